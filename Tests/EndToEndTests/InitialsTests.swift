import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Letter avatars, from the queue to the stored picture.
    @Suite(.timeLimit(.minutes(10)))
    struct InitialsTests {
        @Test func avatarGoesThroughTheQueueLikeAnyPicture() async throws {
            let deployment = try Deployment()
            let name = "initials:Ada%20Lovelace?background=%23f5a623"
            let receipts = try await deployment.enqueue(
                name,
                "initials:al?background=%23F5A623",
                "--size",
                "96x96:png",
                "--size",
                "32x32:cover:webp"
            )
            let sql = #"{"source":"INITIALS:Ж","renditions":[{"width":64}]}"#
            _ = try await deployment.sql("INSERT INTO job(request) VALUES (json('\(sql)'));")
            try await deployment.drain().succeeded()

            var jobs: [Job] = []
            for id in [1, 2, 3] as [Int64] { jobs.append(try await deployment.job(id)) }
            try #require(jobs.map(\.state) == [.completed, .completed, .completed])
            let first = try #require(jobs[0].thumbnails.first)
            #expect(first.uri == receipts[0].thumbnails[0].uri)
            #expect([first.width, first.height] == [96, 96])
            #expect(first.dominantColor == "#f5a623")
            #expect(first.source?.format == "initials")
            #expect([first.source?.width, first.source?.height] == [512, 512])
            // Another spelling of the same drawing: another URI, the same bytes.
            #expect(jobs[1].thumbnails[0].uri != first.uri)
            #expect(jobs[1].thumbnails[0].blob == first.blob)

            let bytes = try await deployment.command("cameo-status", ["cat", first.uri.text]).standardOutput
            #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let text = try await deployment.command("cameo-status job 1").outputText
            #expect(text.contains("512x512 initials"), "\(text)")
        }

        @Test func avatarIsAnOverlay() async throws {
            let deployment = try await Deployment.withPhoto()
            let overlay = "initials:A?background=%23f00"
            let receipt = try #require(
                try await deployment.enqueue("pictures/photo.jpg --overlay", overlay, "--size", "64x64:png").first
            )
            try await deployment.drain().succeeded()
            #expect(try await deployment.job(receipt.jobID).state == .completed)
        }

        @Test func whatCannotBeDrawnIsRefusedBeforeItIsQueued() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:A --size 64x64")
            let sql = #"{"source":"initials:JD?font=Arial","renditions":[{"width":64}]}"#
            _ = try await deployment.sql("INSERT INTO job(request) VALUES (json('\(sql)'));")
            #expect(try await deployment.drain().exitStatus == 1)
            let failure = try #require(try await deployment.job(2).failure)
            #expect(failure.code == .requestInvalid)
            #expect(failure.message.contains("\"font\""), "\(failure.message)")
        }

        @Test func fileThatReadsLikeInitialsIsNoPicture() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.bytes("letters.png", Array("initials:JD".utf8)), as: "letters.png")
            _ = try await deployment.enqueue("pictures/letters.png data:,initials:JD --size 64x64")
            #expect(try await deployment.drain().exitStatus == 1)
            for id in [1, 2] as [Int64] {
                #expect(try await deployment.job(id).failure?.code == .imageUnsupportedFormat)
            }
        }
    }
}
