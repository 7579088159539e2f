import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Promises to scripts: exit codes, JSON that keeps its contract, output that cannot be abused.
    @Suite(.timeLimit(.minutes(10)))
    struct CommandTests {
        @Test(
            arguments: [
                "cameo-enqueue", "cameo-enqueue --data", "cameo-enqueue /none/*.jpg", "cameo-status nonsense",
                "cameo-admin retry", "cameo-worker --concurrency 0", "cameo-worker --allow-root /nowhere",
            ]
        )
        func badUsageIsTwoAndSaysWhy(line: String) async throws {
            let result = try await Deployment().command(line)
            #expect(result.exitStatus == 2, "\(result.errorText)")
            #expect(!result.errorText.isEmpty && result.outputText.isEmpty)
        }

        @Test func aMissingStoreIsFour() async throws {
            let deployment = try Deployment()
            for line in ["cameo-status", "cameo-admin check", "cameo-admin retry 1"] {
                let result = try await deployment.command(line)
                #expect(result.exitStatus == 4)
                #expect(result.errorText.contains(deployment.store))
            }
        }

        @Test func aNewerStoreIsFourAndNamed() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            _ = try await deployment.sql("PRAGMA user_version = 99;")
            for command in ["cameo-status", "cameo-worker"] {
                let result = try await deployment.command(command)
                #expect(result.exitStatus == 4)
                #expect(result.errorText.contains("schema version 99"))
            }
        }

        @Test func whatIsNotThereIsOne() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let thumbnail = "cameo://thumb/00000000000000000000000000000000"
            for line in ["cameo-status job 99", "cameo-status cat \(thumbnail)", "cameo-admin cancel 99"] {
                #expect(try await deployment.command(line).exitStatus == 1)
            }
        }

        @Test func storeOptionMayStandInFrontOfTheSubcommand() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let result = try await deployment.command(
                "cameo-status",
                ["--store", deployment.store, "job", "1"],
                environment: ["CAMEO_STORE": nil]
            )
            #expect(result.outputText.contains("job 1: available"), "\(result.errorText)")
        }

        @Test func cancelAndRetryByHand() async throws {
            let deployment = try Deployment()
            let id = try #require(try await deployment.enqueue("a.jpg").first).jobID
            #expect(
                try await deployment.command("cameo-admin cancel \(id)").outputText
                    == "job \(id) is cancelled\n"
            )
            #expect(try await deployment.job(id).state == .cancelled)
            let again = try await deployment.command("cameo-admin cancel \(id)")
            #expect(again.outputText == "job \(id) had already ended: cancelled\n")
            _ = try await deployment.command("cameo-admin retry \(id)")
            #expect(try await deployment.job(id).state == .available)
        }

        @Test func forgetsOriginalsAndThumbnailsOfASource() async throws {
            let deployment = try Deployment()
            let picture = deployment.folder.path("a b.jpg")
            let uri = "file://" + picture.replacing(" ", with: "%20")
            _ = try await deployment.enqueue("a.jpg")
            let store: any Store = try SQLiteStore(at: deployment.store)
            let bytes = Data("original".utf8)
            let source = CachedSource(
                key: SourceKey(uri: uri, scope: nil),
                finalURL: uri,
                head: CacheableResponse(status: 200, requestTime: .now, responseTime: .now),
                freshUntil: .now,
                blob: BlobDigest(of: bytes),
                bytes: bytes.count,
                sourceSeen: 1,
                peers: [Peer(origin: uri, .program)]
            )
            for arguments in [["forget"], ["forget", "--json"]] {
                try await store.keep(source, data: bytes, budget: nil)
                let done = try await deployment.command("cameo-admin", arguments + [picture]).succeeded()
                #expect(done.outputText.contains(arguments.count == 1 ? "1 original (8 bytes)" : "\"originals\":1"))
                let again = try await deployment.command("cameo-admin", arguments + ["--thumbnails", picture])
                #expect(again.exitStatus == 1)
                #expect(arguments.count == 2 || again.errorText.contains("nothing is stored for"))
            }
        }

        @Test func thumbnailsAreForgottenByWhatNamesThem() async throws {
            let deployment = try await Deployment.withPhoto()
            let enqueueing = ["--size", "64x64", "--batch", "b", "--label", "u"]
            let photo = "\(deployment.pictures)/photo.jpg"
            let uri = try await deployment.enqueue(enqueueing + [photo])[0].thumbnails[0].uri.text
            try await deployment.command("cameo-worker", ["--drain"]).succeeded()
            try await deployment.command("cameo-status", ["thumb", uri]).succeeded()
            for arguments in [["--label", "v"], ["--prefix", "https:"], ["--job", "9"]] {
                let nothing = try await deployment.command("cameo-admin", ["forget"] + arguments)
                #expect(nothing.exitStatus == 1 && nothing.errorText.contains("no thumbnail is selected by {"))
            }
            for arguments in [
                ["--label", ""], ["--uri", "x"], ["--label", "u", "--now", "--dry-run"],
                ["--even-shared", "--job", "1"], ["--label", "u", "photo.jpg"],
            ] {
                #expect(try await deployment.command("cameo-admin", ["forget"] + arguments).exitStatus == 2)
            }
            let would = try await deployment.command("cameo-admin", ["forget", "--dry-run", "--label", "u"]).succeeded()
            #expect(would.outputText.hasPrefix(#"{"label":"u"}: 1 thumbnail ("#), "\(would.outputText)")
            #expect(would.outputText.hasSuffix(" bytes) would be removed\n"), "\(would.outputText)")
            let source = try await deployment.command(
                "cameo-admin",
                ["forget", "--dry-run", "--json", "--thumbnails", photo]
            )
            #expect(source.exitStatus == 0 && source.outputText.contains(#""thumbnails":1"#), "\(source.outputText)")
            try await deployment.command("cameo-status", ["thumb", uri]).succeeded()
            let done = try await deployment.command("cameo-admin", ["forget", "--now", "--label", "u"]).succeeded()
            #expect(done.outputText.hasPrefix(#"{"label":"u"}: 1 thumbnail ("#), "\(done.outputText)")
            #expect(done.outputText.contains("are left for the next cleaning"))
            let status = try await deployment.command("cameo-status", ["thumb", uri])
            #expect(status.exitStatus == 1 && status.errorText.contains("does not exist: it was forgotten"))
            #expect(try await deployment.command("cameo-status", ["cat", uri]).exitStatus == 1)
            let json = try await deployment.command("cameo-admin", ["forget", "--json", "--batch", "b"])
            #expect(json.exitStatus == 0)
            #expect(json.outputText == #"{"bytes":0,"bytesLeft":0,"thumbnails":0}"# + "\n")
            for names in [["--uri", uri], ["--label", "u"]] {
                let again = try await deployment.command("cameo-admin", ["forget"] + names).succeeded()
                #expect(again.outputText.hasSuffix(": nothing is left to remove\n"), "\(again.outputText)")
            }
            _ = try await deployment.enqueue(enqueueing + [photo])
            try await deployment.command("cameo-worker", ["--drain"]).succeeded()
            for count in ["1 thumbnail", "0 thumbnails"] {
                let result = try await deployment.command("cameo-admin", ["forget", "--thumbnails", photo]).succeeded()
                #expect(result.outputText.hasSuffix(", \(count)\n"), "\(result.outputText)")
            }
        }

        @Test func whatTheCommandsPrintKeepsTheContract() async throws {
            let deployment = try await Deployment.withPhoto()
            let enqueued = try await deployment.command(
                "cameo-enqueue",
                [
                    "pictures/photo.jpg", "pictures/none.jpg", "--allow-missing", "--json", "--batch", "b",
                    "--metadata",
                    #"{"a":[1,null]}"#,
                    "--size", "64x64", "--max-attempts", "2",
                ]
            )
            try await expectValid("enqueue-receipt", enqueued.standardOutput)
            try await expectValid(
                "status-report",
                try await deployment.command("cameo-status --json").standardOutput
            )
            try await expectValid(
                "job",
                try await deployment.command("cameo-status jobs --json").standardOutput
            )
            _ = try await deployment.drain()
            try await expectValid(
                "status-report",
                try await deployment.command("cameo-status --json").standardOutput
            )
            for id in ["1", "2"] {
                let job = try await deployment.command("cameo-status", ["job", id, "--json"])
                try await expectValid("job", job.standardOutput)
            }
            let failure = try #require(try await deployment.job(2).failure)
            try await expectValid("job-failure", try WireFormat.encode(failure))
        }

        @Test func textFromOutsideCannotDriveTheTerminalOrThePage() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let source = "file:///\u{1B}[31m<script>alert(1)</script>\u{202E}gpj.exe"
            let json = try WireFormat.encode(source)
            _ = try await deployment.sql(
                "INSERT INTO job(request) VALUES ('{\"source\":\(String(decoding: json, as: UTF8.self)),\"renditions\":[{\"width\":9}]}');"
            )
            for arguments in [["jobs"], ["job", "2"]] {
                let text = try await deployment.command("cameo-status", arguments).outputText
                #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
                #expect(text.contains("\\u{1b}[31m"))
            }
            _ = try await deployment.command("cameo-status sheet sheet.html 1 2")
            let html = try String(contentsOfFile: deployment.folder.path("sheet.html"), encoding: .utf8)
            #expect(!html.contains("<script>") && html.contains("&lt;script&gt;"))
        }

        @Test func exportNeitherOverwritesNorFollowsLinksNorLeavesItsFolder() async throws {
            let deployment = try Deployment()
            for name in ["photo.jpg", "other/photo.jpg", "..%2F..%2Fescape.jpg"] {
                try FileManager.default.createDirectory(
                    atPath: "\(deployment.pictures)/other",
                    withIntermediateDirectories: true
                )
                try deployment.add(try await Pictures.photo("jpg"), as: name)
            }
            _ = try await deployment.enqueue(
                "pictures/photo.jpg pictures/..%2F..%2Fescape.jpg pictures/other/photo.jpg --size 20x20:png"
            )
            #expect(try await deployment.drain().exitStatus == 0)
            let out = deployment.folder.path("out")
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            let victim = try deployment.folder.write(Data("victim".utf8), to: "victim")
            for name in ["photo.20x20-png.png", "photo-3.20x20-png.png"] {
                try FileManager.default.createSymbolicLink(atPath: "\(out)/\(name)", withDestinationPath: victim)
            }
            let result = try await deployment.command("cameo-status export out 3 2 1 --json")
            #expect(result.exitStatus == 1)
            #expect(
                result.outputText
                    == #"{"kept":0,"skipped":["photo-3.20x20-png.png"],"unreadable":[],"written":2}"# + "\n"
            )
            let again = try await deployment.command("cameo-status export out 3 2 1 --json")
            #expect(
                again.outputText
                    == #"{"kept":2,"skipped":["photo-3.20x20-png.png"],"unreadable":[],"written":0}"# + "\n"
            )
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "victim")
            let files = try FileManager.default.contentsOfDirectory(atPath: out).sorted()
            #expect(files.count == 5)
            #expect(files.contains { $0.contains("escape") })
        }

        @Test(arguments: ["cameo-enqueue", "cameo-status", "cameo-admin"])
        func commandsLinkNeitherImagingNorTransfers(command: String) async throws {
            let libraries = try await run("ldd", [try Deployment.executable(command)])
            #expect(libraries.exitStatus == 0)
            #expect(libraries.outputText.contains("libsqlite3"))
            #expect(!libraries.outputText.contains("libvips"))
            // The engine for fleets needs both.
            let isForFleets = ProcessInfo.processInfo.environment["CAMEO_FLEET"] == "1"
            #expect(libraries.outputText.contains("libcurl") == isForFleets)
            #expect(libraries.outputText.contains("libpq") == isForFleets)
        }

        @Test func optionsMayComeFromTheEnvironment() async throws {
            let deployment = try await Deployment.withPhoto()
            _ = try await deployment.enqueue("pictures/photo.jpg --queue mine")
            _ = try await deployment.enqueue("pictures/photo.jpg --queue other")
            let environment = [
                "CAMEO_DRAIN": "1", "CAMEO_ALLOW_ROOT": "/nonsense,\(deployment.pictures)", "CAMEO_QUEUES": "mine",
                "CAMEO_LOG_FORMAT": "json", "CAMEO_CONCURRENCY": "3", "CAMEO_FETCH_CONCURENCY": "4",
                "CAMEO_SPEED": "11",
            ]
            let refused = try await deployment.command("cameo-worker", environment: environment)
            #expect(refused.exitStatus == 2 && refused.errorText.contains("/nonsense"))
            let result = try await deployment.command(
                "cameo-worker",
                ["--allow-root", deployment.pictures],
                environment: environment
            ).succeeded()
            #expect(result.outputText.contains("1 completed"))
            let lines = try result.errorText.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            let started = try #require(lines.first { $0.canonicalText.contains(#""message":"started""#) })
            #expect(started.canonicalText.contains(#""concurrency":3,"#))
            let warnings = lines.filter { $0.canonicalText.contains("CAMEO_") }.map(\.canonicalText)
            #expect(warnings.count == 2 && warnings.allSatisfy { $0.contains(#""level":"warning""#) }, "\(warnings)")
            for (name, text) in zip(["CAMEO_FETCH_CONCURENCY", "CAMEO_SPEED"], warnings) {
                #expect(text.contains("the environment variable \(name) has no effect: no option has this name"))
            }
            #expect(try await deployment.status().count(.available) == 1)
        }

        @Test func manyProcessesEnqueueAndWorkAtOnce() async throws {
            let deployment = try Deployment()
            for index in 0..<8 { try deployment.add(try await Pictures.photo("webp"), as: "p\(index).webp") }
            let results = try await withThrowingTaskGroup(of: ProcessResult.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        try await deployment.command("cameo-enqueue pictures/* --size \(30 + index)x30 --size 20x")
                    }
                }
                for _ in 0..<3 {
                    group.addTask {
                        try await deployment.command("cameo-worker", ["--drain", "--allow-root", deployment.pictures])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for result in results {
                #expect(result.exitStatus == 0, "\(result.errorText)")
                #expect(!result.errorText.contains("lock"))
            }
            #expect(try await deployment.drain().exitStatus == 0)
            let status = try await deployment.status()
            #expect((status.count(.completed), status.jobs.values.reduce(0, +)) == (64, 64))
            #expect(
                try await deployment.sql("SELECT outcome, count(*), failure FROM attempt GROUP BY 1, 3;")
                    == "completed|64|"
            )
        }

        // MARK: - Abuse that once broke a command or a worker

        @Test(arguments: ["cameo-status", "cameo-enqueue"])
        func outputThatCannotBeWrittenIsSaidInOneLine(command: String) async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let arguments = command == "cameo-enqueue" ? "data:," : "jobs"
            let result = try await deployment.shell("\(command) \(arguments) > /dev/full")
            #expect(result.exitStatus == 1)
            #expect(result.errorText == "cannot write to standard output: No space left on device\n")
        }

        @Test func aReportReplacesPagesAndNothingElse() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:AB")
            #expect(try await deployment.drain().exitStatus == 0)
            let victim = try deployment.folder.write(Data("victim".utf8), to: "victim.html")
            try FileManager.default.createSymbolicLink(
                atPath: deployment.folder.path("link.html"),
                withDestinationPath: victim
            )
            for path in [
                "\(deployment.store)/cameo.sqlite", "\(deployment.store)/blobs/a.html", "link.html", "/dev/null",
                "pictures",
            ] {
                let result = try await deployment.command("cameo-status", ["sheet", path])
                #expect(result.exitStatus == 1, "\(path)")
            }
            #expect(try await deployment.command("cameo-status export store/out").exitStatus == 1)
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "victim")
            for _ in 1...2 {
                #expect(
                    try await deployment.command("cameo-status sheet \(deployment.store)/page.html").exitStatus
                        == 0
                )
            }
            #expect(try await deployment.command("cameo-status sheet -").outputText.hasPrefix("<!DOCTYPE html>"))
            #expect(try await deployment.status().count(.completed) == 1)
        }

        @Test func aTildeIsANameLikeAnyOther() async throws {
            let deployment = try Deployment()
            let receipt = try #require(try await deployment.enqueue("~/x.jpg --store ~").first)
            #expect(receipt.source == "file://\(deployment.folder.path)/~/x.jpg")
            #expect(FileManager.default.fileExists(atPath: deployment.folder.path("~/cameo.sqlite")))
        }

        @Test(arguments: ["/bin/false", "/"])
        func aRendererThatCannotStartCostsNoJobAnything(renderer: String) async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let result = try await deployment.drain("--renderer", renderer)
            #expect(result.exitStatus == 1)
            #expect(
                result.errorText.contains("no renderer can be started") || result.errorText.contains("cannot be run")
            )
            #expect(try await deployment.job(1).attempts?.isEmpty == true)
        }

        @Test func aDrainThatIsStoppedSaysSo() async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            _ = try await deployment.enqueue("pictures/hang.jpg")
            let worker = try deployment.startWorker("--drain --grace 0.1 --render-timeout 1h")
            try await deployment.waitUntil { try await $0.status().count(.running) == 1 }
            #expect(await worker.stop() == .exited(3))
            #expect(try await deployment.status().count(.available) == 1)
        }

        @Test func aWorkerWhoseStoreIsRemovedEnds() async throws {
            let deployment = try Deployment()
            let worker = try deployment.startWorker()
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            // Renamed first, because under its own name the worker might create a file while the folder is being
            // emptied.
            let away = deployment.folder.path("away")
            try FileManager.default.moveItem(atPath: deployment.store, toPath: away)
            try FileManager.default.removeItem(atPath: away)
            #expect(await worker.ending == .exited(4))
        }
    }
}
