import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Bad inputs: each fails its own job with a named code, and the good job beside it completes.
    @Suite(.timeLimit(.minutes(10)))
    struct BadInputTests {
        @Test(arguments: [
            "cameo-enqueue --request", "cameo-enqueue data:, --preset p --presets", "cameo-worker --hooks",
            "cameo-worker --host-headers", "cameo-worker --settings",
        ])
        func aFileThatNeverEndsIsRefused(line: String) async throws {
            let result = try await Deployment().command("\(line) /dev/zero")
            #expect(result.exitStatus == 2 && result.errorText.contains("/dev/zero"), "\(result.errorText)")
        }

        @Test func everyBadFileFailsItsOwnJob() async throws {
            let deployment = try Deployment()
            let files = [
                ("empty.jpg", Data()), ("text.jpg", Data("Dear Sir or Madam,\n".utf8)),
                ("broken.svg", Data("<svg xmlns='http://www.w3.org/2000/svg' width='9'".utf8)),
                ("page.pdf", Data("%PDF-1.7\n".utf8)),
            ]
            for (name, data) in files { try data.write(to: URL(filePath: "\(deployment.pictures)/\(name)")) }
            let folder = "\(deployment.pictures)/folder"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let cut = ["jpg", "png", "webp", "gif", "tif"]
            for ending in cut {
                try deployment.add(try await Pictures.truncated(ending, share: 0.6), as: "cut.\(ending)")
            }
            try deployment.add(try await Pictures.pngHeader(claiming: 60_000, 60_000), as: "huge.png")
            let pictures = "file://\(deployment.pictures)"
            let all: [BadSource] =
                [
                    BadSource("\(pictures)/none.jpg", .sourceNotFound, "pictures/none.jpg"),
                    BadSource("\(pictures)/folder", .sourceInvalid, "pictures/folder"),
                    BadSource("\(pictures)/empty.jpg", .sourceInvalid, "empty.jpg"),
                    BadSource("\(pictures)/text.jpg", .imageUnsupportedFormat, "text.jpg"),
                    BadSource("\(pictures)/broken.svg", .imageCorrupt, "broken.svg"),
                    BadSource("\(pictures)/page.pdf", .imageUnsupportedFormat, "page.pdf"),
                    BadSource("\(pictures)/huge.png", .imageTooManyPixels, "100000000"),
                    BadSource("file:///etc/passwd", .sourceForbidden, "--allow-root"),
                    BadSource("ftp://example.com/a.jpg", .sourceUnsupportedScheme, "ftp"),
                ] + cut.map { BadSource("\(pictures)/cut.\($0)", .imageCorrupt, "cut.\($0)") }
            try await deployment.expectFailures(of: all)
        }

        @Test func filesOfTheStoreItself() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("--data --at 2090-01-01T00:00:00Z", input: Data([1]))
            // A second name of the database file, in a folder that may be read.
            let link = "\(deployment.pictures)/link.jpg"
            try FileManager.default.linkItem(atPath: "\(deployment.store)/cameo.sqlite", toPath: link)
            let names = ["\(deployment.store)/cameo.sqlite", link].map { "file://\($0)" }
            try await deployment.expectFailures(
                of: names.map { BadSource($0, .sourceForbidden, "store") },
                "--allow-root /"
            )
        }

        private static let limits = "--allow-network 127.0.0.0/8 --fetch-timeout 5m,connect=2m,low-speed=0"

        @Test func everyServerThatMisbehavesFailsItsOwnJob() async throws {
            let origin = try await Origin.start()
            let away = "http://127.0.0.1:\(origin.port == 1 ? 2 : 1)/a.jpg"
            try await Deployment().expectFailures(
                of: [
                    BadSource(origin.url("/status/404"), .sourceNotFound, "404"),
                    BadSource(origin.url("/status/503"), .sourceHTTPStatus, "503"),
                    BadSource(origin.url("/empty"), .sourceInvalid, "/empty"),
                    BadSource(origin.url("/redirect?to=ftp://example.com/a.jpg"), .sourceForbidden, "ftp"),
                    BadSource(away, .sourceUnreachable, away),
                ],
                Self.limits
            )
            try await Deployment().expectFailures(
                of: [
                    BadSource(origin.url("/never"), .sourceTimeout, "3"),
                    BadSource(origin.url("/slow"), .sourceTimeout, "/slow"),
                ],
                "\(Self.limits) --fetch-timeout 3"
            )
            let here = origin.url("/redirect?to=\(origin.url("/status/200"))", host: "localhost")
            try await Deployment().expectFailures(
                of: [BadSource(here, .sourceForbidden, "127.0.0.1")],
                "--allow-host localhost"
            )
            try await Deployment().expectFailures(of: [
                BadSource(origin.url("/bytes?count=9"), .sourceForbidden, "--allow-network")
            ])
        }

        @Test func sourceThatIsTooLarge() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("png"), as: "large.png")
            // The good picture is smaller than the limit.
            let large = BadSource("file://\(deployment.pictures)/large.png", .sourceTooLarge, "200000")
            try await deployment.expectFailures(of: [large], "--max-source-bytes 200000")
        }

        /// Rows inserted by SQL end when a worker accepts them, and none is worked on.
        @Test func requestsThatOnlyAcceptanceCanRefuse() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "good.jpg")
            _ = try await deployment.enqueue("pictures/good.jpg")
            let rows = [
                (#"{"source":"file:///a.jpg","renditions":[{"width":-3}]}"#, "renditions[0].width"),
                (#"{"source":"file:///a.jpg","renditions":[{"width":3,"blurr":2}]}"#, "renditions[0].blurr"),
                (#"{"source":"file:///a.jpg","renditions":[{"width":3}],"priority":1,"priority":2}"#, "duplicate key"),
                (#"{"source":"file:///a.jpg","renditions":[{"width":3}],"colour":"red"}"#, "colour"),
                (#"{"source":"file:///a.jpg","renditions":[{"width":3}],"priority":1000}"#, "priority"),
                (#"{"source":"file:///a.jpg","renditions":[{"width":3}],"runAt":"soon"}"#, "runAt"),
                (#"{"source":"file:///a.jpg","renditions":[{"width":3}],"queue":"No Name"}"#, "queue"),
            ]
            for (request, _) in rows {
                _ = try await deployment.sql("INSERT INTO job(request) VALUES ('\(request)');")
            }
            let drained = try await deployment.drain()
            #expect(drained.exitStatus == 1)
            let counts = "1 completed (1 thumbnail), \(rows.count) discarded"
            #expect(drained.outputText.contains(counts), "\(drained.outputText)")
            let reasons = try await deployment.sql(
                "SELECT attempt, failure_code, failure_message FROM job_status WHERE state = 'discarded' ORDER BY id;"
            )
            .split(separator: "\n")
            #expect(reasons.count == rows.count)
            for (reason, row) in zip(reasons, rows) {
                #expect(reason.hasPrefix("0|request.invalid|the request is invalid: "))
                #expect(reason.contains(row.1), "\(reason)")
            }
            #expect(try await deployment.sql("SELECT group_concat(job_id) FROM attempt;") == "1")
        }

        @Test func malformedRequestFile() async throws {
            let deployment = try Deployment()
            let path = try deployment.folder.write(Data("{\"source\": \"a.jpg\",".utf8), to: "request.json")
            let result = try await deployment.command("cameo-enqueue", ["--request", path])
            #expect(result.exitStatus == 2)
            #expect(result.errorText.contains("request.json") && result.errorText.contains("malformed JSON"))
            #expect(!FileManager.default.fileExists(atPath: deployment.store))
        }

        @Test func retriesAreMadeAndCounted() async throws {
            let deployment = try Deployment()
            let origin = try await Origin.start()
            let receipt = try #require(
                try await deployment.enqueue(origin.url("/status/503"), "--max-attempts", "3").first
            )
            let drained = try await deployment.drain("--allow-network 127.0.0.0/8 --retry base=0.05")
            #expect(drained.exitStatus == 1)
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempt) == (.discarded, 3))
            #expect(job.attempts?.map(\.outcome) == [.retryable, .retryable, .discarded])
            #expect(try await origin.counts().requests["/status/503"] == 3)
        }
    }
}
