import CameoModel
import CameoQueue
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoPostgreSQL

struct SchemaScriptTests {
    /// The scripts of landed versions, which stores and databases were made with: append one instead of editing them.
    @Test func landedScriptsStayAsTheyAre() {
        let landed = [
            "aa63fcab4276e85f", "32e9d3c3589fca83", "1e488111163f701b", "8d6ea54a229d72da", "bf9b4717ebfdfe42",
            "0888e550c0ab952f", "ff06ba0c61c33cf0", "75dc182de57a4c55", "dd13c43040d07dd6", "67f5f4c78f6ad1ba",
            "69a8d3f337d3e2fd", "8b4e0602c5f7c17f", "6c5f503024b66124",
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

    @Test func changesNamesTheVersionOfTheTables() throws {
        let changes = try String(contentsOf: Repository.file("Sources/Cameo/Cameo.docc/Changes.md"), encoding: .utf8)
        #expect(changes.contains("and \(Schema.currentVersion) in PostgreSQL"))
    }
}
