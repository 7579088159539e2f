import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The first steps of a new user, with the real commands.
    @Suite(.timeLimit(.minutes(10)))
    struct MainFlowTests {
        @Test func picturesBecomeThumbnailsThatCanBeRead() async throws {
            let deployment = try Deployment()
            for ending in ["jpg", "png", "webp", "gif", "tif", "avif"] {
                try deployment.add(try await Pictures.photo(ending), as: "photo.\(ending)")
            }
            let receipts = try await deployment.enqueue(
                "pictures/* --size 64x64:cover:webp --size 100x:jpeg --batch all"
            )
            #expect(receipts.count == 6)
            let drained = try await deployment.drain().succeeded()
            #expect(drained.outputText.contains("6 completed (12 thumbnails), 0 discarded"))

            let status = try await deployment.status()
            #expect((status.count(.completed), status.count(.discarded), status.thumbnails) == (6, 0, 12))
            for receipt in receipts {
                let job = try await deployment.job(receipt.jobID)
                try #require(job.thumbnails.map(\.uri) == receipt.thumbnails.map(\.uri))
                #expect(job.thumbnails[0].width == 64 && job.thumbnails[0].height == 64)
                for thumbnail in job.thumbnails {
                    let byName = try await deployment.command("cameo-status", ["cat", thumbnail.uri.text])
                    let byDigest = try await deployment.command(
                        "cameo-status",
                        ["cat", try #require(thumbnail.blob).text]
                    )
                    #expect(byName.standardOutput == byDigest.standardOutput)
                    #expect(byName.standardOutput.count == thumbnail.bytes)
                }
            }

            try await deployment.command("cameo-status export out --batch all").succeeded()
            let files = try deployment.exported("out")
            #expect(files.count == 12)
            for file in files {
                let size = try await Pictures.tool(
                    "vipsheader",
                    ["-f", "width", deployment.folder.path("out/\(file)")]
                )
                #expect(size == (file.hasSuffix("webp") ? "64" : "100"))
            }
            let sheet = try await deployment.command("cameo-status sheet sheet.html")
            #expect(sheet.outputText == deployment.folder.path("sheet.html") + "\n")
            let html = try String(contentsOfFile: deployment.folder.path("sheet.html"), encoding: .utf8)
            #expect(html.components(separatedBy: "<img ").count == 13)
            #expect(!html.contains("src=\"http"))
        }

        @Test func aRunningWorkerTakesWhatIsInsertedBySQL() async throws {
            let deployment = try Deployment()
            let path = try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            let worker = try deployment.startWorker()
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            let request =
                #"{"source":"file://\#(path)","renditions":[{"width":32,"format":"png"}],"metadata":{"user":7}}"#
            let id = try await deployment.sql(
                "INSERT INTO job(request) VALUES (json('\(request)')); SELECT last_insert_rowid();"
            )
            let waited = try await deployment.command(
                "cameo-status",
                ["job", id, "--wait", "--wait-timeout", "300", "--json"]
            ).succeeded()
            let job = try WireFormat.decode(Job.self, from: waited.standardOutput)
            #expect((job.state, job.thumbnails.first?.width, job.thumbnails.first?.format) == (.completed, 32, "png"))
            let polled = try await deployment.sql("SELECT state, json_extract(thumbnails, '$[0].uri') FROM job_status;")
            #expect(polled == "completed|\(job.thumbnails[0].uri)")
            #expect(await worker.stop() == .exited(0))
        }

        @Test func bytesHandedOverBySQLAndByCommandHaveTheSameThumbnails() async throws {
            let deployment = try Deployment()
            let picture = try await Pictures.photo("png")
            let data = try Data(contentsOf: URL(filePath: picture))
            let receipt = try #require(try await deployment.enqueue("--data --size 48x48", input: data).first)
            _ = try await deployment.sql(
                #"INSERT INTO upload(data, request) VALUES (readfile('\#(picture)'), '{"renditions":[{"width":48,"height":48}]}');"#
            )
            #expect(try await deployment.drain().exitStatus == 0)
            let uploaded = try await deployment.job(receipt.jobID + 1)
            #expect(uploaded.state == .completed)
            #expect(uploaded.thumbnails.map(\.uri) == receipt.thumbnails.map(\.uri))
            #expect(uploaded.source == "cameo://blob/\(BlobDigest(of: data))")
        }

        @Test func aThumbnailCanBeTheSourceOfAnother() async throws {
            let deployment = try await Deployment.withPhoto()
            let first = try #require(try await deployment.enqueue("pictures/photo.jpg --size 100x100:png").first)
            #expect(try await deployment.drain().exitStatus == 0)
            let second = try #require(
                try await deployment.enqueue(first.thumbnails[0].uri.text, "--size", "20x20:cover").first
            )
            #expect(try await deployment.drain().exitStatus == 0)
            let job = try await deployment.job(second.jobID)
            #expect(job.thumbnails.map { [$0.width, $0.height] } == [[20, 20]])
        }

        @Test func picturesComeOverHTTP() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("webp"), as: "photo.webp")
            let origin = try await Origin.start(serving: deployment.pictures)
            _ = try await deployment.enqueue(
                origin.url("/a.webp?file=photo.webp"),
                origin.url("/redirect?to=/b.webp%3Ffile%3Dphoto.webp")
            )
            try await deployment.drain("--allow-network 127.0.0.0/8").succeeded()
            #expect(try await deployment.status().count(.completed) == 2)
        }

        @Test func enqueueWaitsForItsJobsAndReportsFailures() async throws {
            let deployment = try await Deployment.withPhoto()
            let worker = try deployment.startWorker()
            try await deployment.command("cameo-enqueue pictures/photo.jpg --wait --wait-timeout 300").succeeded()
            let bad = try await deployment.command(
                "cameo-enqueue pictures/none.jpg --allow-missing --wait --wait-timeout 300"
            )
            #expect(bad.exitStatus == 1)
            #expect(bad.errorText.contains("source.notFound"))
            #expect(await worker.stop(SIGINT) == .exited(0))
            let late = try await deployment.command("cameo-enqueue pictures/photo.jpg --wait --wait-timeout 0.2")
            #expect(late.exitStatus == 3 && late.errorText == "cameo-enqueue: not finished within 200ms\n")
        }

        @Test(.enabled(if: TestLength.isWhole, "--all")) func tenThousandSourcesAreOneQuickCall() async throws {
            let deployment = try Deployment()
            let list = (0..<10_000).map { "/pictures/\($0).jpg" }.joined(separator: "\n")
            let result = try await deployment.command(
                "cameo-enqueue - --allow-missing",
                input: Data(list.utf8),
                timeout: .seconds(60)
            )
            #expect(result.outputText.split(separator: "\n").count == 10_000)
            #expect(try await deployment.status().count(.available) == 10_000)
        }
    }
}
