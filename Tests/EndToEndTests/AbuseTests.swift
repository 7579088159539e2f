import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Abuse that once broke a command or a worker: outputs that cannot be written or must not be replaced, absurd
    /// numbers, a store that disappears.
    @Suite(.timeLimit(.minutes(10)))
    struct AbuseTests {
        @Test(arguments: ["cameo-status", "cameo-enqueue"])
        func outputThatCannotBeWrittenIsSaidInOneLine(command: String) async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let arguments = command == "cameo-enqueue" ? "data:," : "jobs"
            let script = "\(try Deployment.executable(command)) \(arguments) > /dev/full"
            let result = try await run("/bin/sh", ["-c", script], environment: ["CAMEO_STORE": deployment.store])
            #expect(result.exitStatus == 1)
            #expect(result.errorText == "cannot write to standard output: No space left on device\n")
        }

        @Test func aReportReplacesPagesAndNothingElse() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
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
            #expect(try await deployment.command("cameo-status", ["export", "store/out"]).exitStatus == 1)
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "victim")
            for _ in 1...2 {
                #expect(
                    try await deployment.command("cameo-status", ["sheet", "\(deployment.store)/page.html"]).exitStatus
                        == 0
                )
            }
            #expect(
                try await deployment.command("cameo-status", ["sheet", "-"]).outputText.hasPrefix("<!DOCTYPE html>")
            )
            #expect(try await deployment.status().count(.available) == 1)
        }

        @Test func aTildeIsANameLikeAnyOther() async throws {
            let deployment = try Deployment()
            let receipt = try #require(try await deployment.enqueue("~/x.jpg", "--store", "~").first)
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
            let worker = try deployment.startWorker("--drain", "--grace", "0.1", "--render-timeout", "1h")
            try await deployment.waitUntil { try await $0.status().count(.running) == 1 }
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(3))
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

        @Test(arguments: [
            ["--grace", "inf"], ["--job-timeout", "1e300"], ["--memory-limit", "9223372036854775807"],
            ["--queues", ","],
        ])
        func numbersBeyondReasonAreBadUsage(arguments: [String]) async throws {
            #expect(try await Deployment().drain(arguments[0], arguments[1]).exitStatus == 2)
        }

        @Test func aFlagOfTheEnvironmentIsYesOrNo() async throws {
            let result = try await Deployment().command("cameo-worker", environment: ["CAMEO_DRAIN": "perhaps"])
            #expect(result.exitStatus == 2)
        }
    }
}
