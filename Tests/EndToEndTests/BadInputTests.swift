import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Bad inputs: each fails its own job with a named code, and the good job beside it completes.
    @Suite(.timeLimit(.minutes(10)))
    struct BadInputTests {
        private static let limits = ["--allow-network", "127.0.0.0/8", "--connect-timeout", "2m", "--low-speed", "0"]

        @Test(arguments: [
            ["cameo-enqueue", "--request"], ["cameo-enqueue", "data:,", "--preset", "p", "--presets"],
            ["cameo-worker", "--hooks"],
            ["cameo-worker", "--host-headers"], ["cameo-worker", "--settings"],
        ])
        func aFileThatNeverEndsIsRefused(words: [String]) async throws {
            let result = try await Deployment().command(words[0], words.dropFirst() + ["/dev/zero"])
            #expect(result.exitStatus == 2 && result.errorText.contains("/dev/zero"), "\(result.errorText)")
        }

        /// Runs one source to its end beside a good picture, and returns its job.
        private func outcome(
            of source: (Deployment) async throws -> String,
            worker: [String] = Self.limits,
            environment: [String: String] = [:]
        ) async throws -> Job {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "good.jpg")
            let named = try await source(deployment)
            let good = try #require(try await deployment.enqueue("pictures/good.jpg", "--size", "64x64").first)
            // Inserted by SQL, because cameo-enqueue refuses mistakes that it can see.
            let request: JSONValue = .object([
                "source": .string(Self.uri(named, deployment)),
                "maxAttempts": .integer(1), "renditions": .array([.object(["width": .integer(64)])]),
            ])
            let bad = try await deployment.sql(
                "INSERT INTO job(request) VALUES ('\(request.canonicalText)'); SELECT last_insert_rowid();"
            )
            let drained = try await deployment.command(
                "cameo-worker",
                ["--drain", "--allow-root", deployment.pictures] + worker
            )
            #expect(drained.exitStatus == 1, "\(drained.errorText)")
            #expect(drained.outputText.contains("1 completed (1 thumbnail), 1 discarded"))
            #expect(try await deployment.job(good.jobID).state == .completed)
            #expect(try await deployment.status().thumbnails == 1)
            return try await deployment.job(try #require(Int64(bad)))
        }

        private static func uri(_ name: String, _ deployment: Deployment) -> String {
            if name.contains(":") { return name }
            return "file://" + (name.hasPrefix("/") ? name : deployment.folder.path(name))
        }

        private func expect(_ job: Job, _ code: JobFailure.Code, naming text: String) {
            #expect(job.state == .discarded)
            #expect(job.failure?.code == code, "\(job.failure?.message ?? "no failure")")
            #expect(job.failure?.message.contains(text) == true, "\(job.failure?.message ?? "no failure")")
        }

        @Test func missingFile() async throws {
            let job = try await outcome { _ in "pictures/none.jpg" }
            expect(job, .sourceNotFound, naming: "pictures/none.jpg")
        }

        @Test func folder() async throws {
            let job = try await outcome { deployment in
                try FileManager.default.createDirectory(
                    atPath: "\(deployment.pictures)/folder",
                    withIntermediateDirectories: false
                )
                return "pictures/folder"
            }
            expect(job, .sourceInvalid, naming: "pictures/folder")
        }

        @Test(arguments: [
            ("empty.jpg", Data(), JobFailure.Code.sourceInvalid),
            ("text.jpg", Data("Dear Sir or Madam,\n".utf8), .imageUnsupportedFormat),
            ("broken.svg", Data("<svg xmlns='http://www.w3.org/2000/svg' width='9'".utf8), .imageCorrupt),
            ("page.pdf", Data("%PDF-1.7\n".utf8), .imageUnsupportedFormat),
        ])
        func fileThatIsNoPicture(name: String, data: Data, code: JobFailure.Code) async throws {
            let job = try await outcome { deployment in
                try data.write(to: URL(filePath: "\(deployment.pictures)/\(name)"))
                return "pictures/\(name)"
            }
            expect(job, code, naming: name)
        }

        @Test(arguments: TestLength.few(["jpg", "png", "webp", "gif", "tif"], 1))
        func truncatedPicture(ending: String) async throws {
            let job = try await outcome { deployment in
                try deployment.add(try await Pictures.truncated(ending, share: 0.6), as: "cut.\(ending)")
            }
            expect(job, .imageCorrupt, naming: "cut.\(ending)")
        }

        @Test func pictureThatClaimsToBeHuge() async throws {
            let job = try await outcome { deployment in
                try deployment.add(try await Pictures.pngHeader(claiming: 60_000, 60_000), as: "huge.png")
            }
            expect(job, .imageTooManyPixels, naming: "100000000")
        }

        @Test func fileOutsideTheAllowedFolders() async throws {
            let job = try await outcome { _ in "file:///etc/passwd" }
            expect(job, .sourceForbidden, naming: "--allow-root")
        }

        @Test func filesOfTheStoreItself() async throws {
            for name in ["store/cameo.sqlite", "pictures/link.jpg"] {
                let job = try await outcome(
                    of: { deployment in
                        _ = try await deployment.enqueue("--data", "--at", "2090-01-01T00:00:00Z", input: Data([1]))
                        // A second name of the database file, in a folder that may be read.
                        try FileManager.default.linkItem(
                            atPath: "\(deployment.store)/cameo.sqlite",
                            toPath: "\(deployment.pictures)/link.jpg"
                        )
                        return name
                    },
                    worker: ["--allow-root", "/"]
                )
                expect(job, .sourceForbidden, naming: "store")
            }
        }

        @Test(
            arguments: TestLength.few(
                [
                    ("/status/404", JobFailure.Code.sourceNotFound, "404"),
                    ("/status/503", .sourceHTTPStatus, "503"),
                    ("/never", .sourceTimeout, "3"),
                    ("/slow", .sourceTimeout, "/slow"),
                    ("/empty", .sourceInvalid, "/empty"),
                    ("/redirect?to=ftp://example.com/a.jpg", .sourceForbidden, "ftp"),
                ],
                2
            )
        )
        func serverThatMisbehaves(path: String, code: JobFailure.Code, text: String) async throws {
            let origin = try await Origin.start()
            let time = code == .sourceTimeout ? "3" : "5m"
            let job = try await outcome(of: { _ in origin.url(path) }, worker: Self.limits + ["--fetch-timeout", time])
            expect(job, code, naming: text)
        }

        @Test func redirectToThisMachine() async throws {
            let origin = try await Origin.start()
            let target = origin.url("/status/200")
            let job = try await outcome(
                of: { _ in origin.url("/redirect?to=\(target)", host: "localhost") },
                worker: ["--allow-host", "localhost"]
            )
            expect(job, .sourceForbidden, naming: "127.0.0.1")
        }

        @Test func privateAddressUnlessAllowed() async throws {
            let origin = try await Origin.start()
            let job = try await outcome(of: { _ in origin.url("/bytes?count=9") }, worker: [])
            expect(job, .sourceForbidden, naming: "--allow-network")
        }

        @Test func serverThatIsNotThere() async throws {
            let origin = try await Origin.start()
            let url = "http://127.0.0.1:\(origin.port == 1 ? 2 : 1)/a.jpg"
            let job = try await outcome { _ in url }
            expect(job, .sourceUnreachable, naming: url)
        }

        @Test func unsupportedScheme() async throws {
            let job = try await outcome { _ in "ftp://example.com/a.jpg" }
            expect(job, .sourceUnsupportedScheme, naming: "ftp")
        }

        @Test func sourceThatIsTooLarge() async throws {
            let job = try await outcome(
                of: { deployment in try deployment.add(try await Pictures.photo("png"), as: "large.png") },
                worker: ["--max-source-bytes", "200000"]
            )
            // The good picture is smaller than the limit.
            expect(job, .sourceTooLarge, naming: "200000")
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
            let drained = try await deployment.drain("--allow-network", "127.0.0.0/8", "--retry-base", "0.05")
            #expect(drained.exitStatus == 1)
            let job = try await deployment.job(receipt.jobID)
            #expect((job.state, job.attempt) == (.discarded, 3))
            #expect(job.attempts?.map(\.outcome) == [.retryable, .retryable, .discarded])
            #expect(try await origin.counts().requests["/status/503"] == 3)
        }
    }
}
