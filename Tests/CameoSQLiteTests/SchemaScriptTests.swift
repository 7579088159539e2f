import CameoModel
import CameoQueue
import CameoStore
import Foundation
import Testing

@testable import CameoSQLite

struct SchemaScriptTests {
    /// The scripts of landed versions, which stores and databases were made with: append one instead of editing them.
    @Test func landedScriptsStayAsTheyAre() {
        let landed = [
            "ed00c00f88ae572c", "36153e75061879fd", "cd181fe3819b0698", "ab5027c00e1f171c", "12e85910b2b4dbd3",
            "f88ffa88cbc1b7da", "11f6483bc8b78571", "e6bcebda8b9ea9bb", "c7ab3a54fd70f335", "76004eac4fd724a9",
            "e417d57b73d4874c", "f5a5579860079a09",
        ]
        let digests = Schema.scripts.map { String(BlobDigest(of: Data($0.utf8)).hex.prefix(16)) }
        #expect(digests == landed)
    }

    /// Scripts never change, so they have numbers written out that the rules of the queue name.
    @Test func theirNumbersAreThoseOfTheRules() {
        let text = Schema.scripts.joined()
        for index in [TaskRow.isReady, TaskRow.isPoison, TaskRow.isRunning, TaskRow.isPostponed, TaskRow.isWaiting] {
            #expect(text.contains("WHERE \(index)"))
        }
        let limits = text.matches(of: /crash_count (?:<|>=) ([1-9]\d*)/).map { Int($0.output.1) }
        #expect(Set(limits) == [ClaimKind.poisonAfterCrashes])
    }
}
