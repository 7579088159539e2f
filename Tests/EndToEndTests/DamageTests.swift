import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Missing or damaged bytes in the store: they are never served, and nothing else is lost.
    @Suite(.timeLimit(.minutes(10)))
    struct DamageTests {
        enum Damage: CaseIterable { case fileIsGone, fileIsCut, bitIsFlipped, rowIsChanged }

        /// A thumbnail of each of three pictures, with the bytes of the second damaged.
        private func deployment(with damage: Damage) async throws -> (Deployment, [Job]) {
            let deployment = try Deployment()
            // Blobs of more than 100 KiB are files, smaller ones are rows.
            let size = damage == .rowIsChanged ? "32x32:png" : "600x600:png"
            for name in ["first", "second", "third"] {
                try deployment.add(try await Pictures.photo("jpg"), as: "\(name).jpg")
                let blur = "\(name.count)"
                _ = try await deployment.enqueue("pictures/\(name).jpg --size", size, "--blur", blur, "--batch", "b")
            }
            _ = try await deployment.enqueue("pictures/third.jpg --size 32x:png --rotate 90 --batch b")
            try await deployment.drain().succeeded()
            var jobs: [Job] = []
            for id in 1...4 as ClosedRange<Int64> { jobs.append(try await deployment.job(id)) }
            try await Self.damage(try #require(jobs[1].thumbnails[0].blob), damage, deployment)
            return (deployment, jobs)
        }

        private static func damage(_ blob: CameoURI, _ damage: Damage, _ deployment: Deployment) async throws {
            let hex = String(blob.text.suffix(64))
            let file = URL(filePath: "\(deployment.store)/blobs/\(hex.prefix(2))/\(hex.dropFirst(2))")
            switch damage {
            case .fileIsGone: try FileManager.default.removeItem(at: file)
            case .fileIsCut: try Data(contentsOf: file).dropLast(100).write(to: file)
            case .bitIsFlipped:
                var bytes = try Data(contentsOf: file)
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: file)
            case .rowIsChanged:
                _ = try await deployment.sql("UPDATE blob SET data = zeroblob(size) WHERE digest = '\(hex)';")
            }
        }

        @Test(arguments: TestLength.few(Damage.allCases, 1, whole: 2))
        func aContactSheetAndAnExportGoOnWithoutWhatCannotBeRead(damage: Damage) async throws {
            let (deployment, jobs) = try await deployment(with: damage)
            let uri = jobs[1].thumbnails[0].uri.text
            let sheet = try await deployment.command("cameo-status sheet sheet.html")
            #expect(sheet.exitStatus == 1)
            let lines = sheet.errorText.split(separator: "\n")
            #expect(lines.count == 1 && lines[0].contains(uri) && lines[0].contains("second.jpg"), "\(sheet.errorText)")
            let html = try String(contentsOfFile: deployment.folder.path("sheet.html"), encoding: .utf8)
            #expect(html.components(separatedBy: "<img ").count == 4)
            #expect(html.components(separatedBy: "<figure class=\"unreadable\">").count == 2)
            #expect(html.contains("3 sources, 3 thumbnails"))
            #expect(html.contains("1 that cannot be read"))
            #expect(html.contains("\(uri)</figcaption><p class=\"failure\">the stored bytes of sha256-"))

            let export = try await deployment.command("cameo-status export out --json")
            #expect(export.exitStatus == 1)
            #expect(export.outputText == #"{"kept":0,"skipped":[],"unreadable":["\#(uri)"],"written":3}"# + "\n")
            #expect(export.errorText.contains(uri) && export.errorText.contains("second.jpg"), "\(export.errorText)")
            let names = try deployment.exported("out")
            #expect(names.count == 3 && !names.contains { $0.contains("second") })
        }

        @Test(arguments: TestLength.few(Damage.allCases, 1, whole: 2))
        func aDamagedPictureIsNoSourceOfAFurtherJob(damage: Damage) async throws {
            let (deployment, jobs) = try await deployment(with: damage)
            let thumbnail = jobs[1].thumbnails[0]
            let good = try #require(jobs[0].thumbnails[0].blob).text
            let receipts = try await deployment.enqueue(
                try #require(thumbnail.blob).text,
                thumbnail.uri.text,
                good,
                "--overlay",
                good,
                "--size",
                "16x16"
            )
            let overlaid = try await deployment.enqueue(
                good,
                "--overlay",
                try #require(thumbnail.blob).text,
                "--size",
                "16x16",
                "--max-attempts",
                "2"
            )
            let drained = try await deployment.drain()
            #expect(drained.exitStatus == 1)
            for receipt in [receipts[0], receipts[1], overlaid[0]] {
                let job = try await deployment.job(receipt.jobID)
                #expect(job.state == .discarded)
                #expect(job.attempt == 1)
                #expect(job.failure?.code == .sourceNotFound, "\(job.failure?.message ?? "")")
                #expect(job.failure?.stage == .fetch)
                let fault = damage == .fileIsGone ? "missing" : "damaged"
                #expect(job.failure?.message.contains(fault) == true, "\(job.failure?.message ?? "")")
            }
            #expect(try await deployment.job(receipts[2].jobID).state == .completed)
        }

        /// Without damage no job would be needed: a drawing cannot change, and nothing new is requested.
        @Test(
            arguments: TestLength.few(Damage.allCases, 1, whole: 2),
            TestLength.few(["if-changed", "never"], 1, whole: 1)
        )
        func aDamagedThumbnailIsHealedByTheSameRequestAgain(damage: Damage, refresh: String) async throws {
            let deployment = try Deployment()
            let size = damage == .rowIsChanged ? "32x32:png" : "2400x2400:png"
            let request = ["initials:Ada%20Lovelace", "--size", size, "--blur", "20", "--refresh", refresh]
            let uri = try #require(try await deployment.enqueue(request).first).thumbnails[0].uri.text
            #expect(try await deployment.drain().exitStatus == 0)
            #expect(try await deployment.enqueue(request).first?.id == nil, "it is there, and sound")
            try await Self.damage(try #require(try await deployment.job(1).thumbnails[0].blob), damage, deployment)
            #expect(try await deployment.enqueue(request).first?.id == 2)
            #expect(try await deployment.drain().exitStatus == 0)
            #expect(try await deployment.command("cameo-status", ["cat", uri]).exitStatus == 0)
        }

        /// The source still exists, so its thumbnail is made again.
        @Test(arguments: TestLength.few(Damage.allCases, 1, whole: 2))
        func aDamagedThumbnailIsHealedByAnotherJobForIt(damage: Damage) async throws {
            let (deployment, jobs) = try await deployment(with: damage)
            let check = try await deployment.command("cameo-admin check")
            #expect(check.exitStatus == 1 && check.outputText.contains("error\t"), "\(check.outputText)")
            _ = try await deployment.command("cameo-admin retry 2")
            #expect(try await deployment.drain().exitStatus == 0)
            try await deployment.command("cameo-status", ["cat", jobs[1].thumbnails[0].uri.text]).succeeded()
            try await deployment.expectSound()
            #expect(try await deployment.command("cameo-status sheet -").exitStatus == 0)
        }
    }
}
