import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The messages of the commands: one style, with names as they were typed.
    @Suite(.timeLimit(.minutes(10)))
    struct MessageTests {
        private let deployment: Deployment

        init() throws {
            deployment = try Deployment()
        }

        @Test(
            arguments: [
                ("cameo-enqueue", ["none.jpg"], 2), ("cameo-enqueue", ["--request", "none.json"], 2),
                ("cameo-enqueue", ["data:,", "--preset", "a", "--presets", "none.json"], 2),
                ("cameo-enqueue", ["data:,", "--store", "a/b/c"], 4), ("cameo-status", [], 4),
                ("cameo-admin", ["check"], 4), ("cameo-admin", ["forget", "none*"], 2),
                ("cameo-worker", ["--allow-root", "/none"], 2), ("cameo-worker", ["--rewrite", "x=y"], 2),
                ("cameo-worker", ["--allow-host", "a b"], 2), ("cameo-worker", ["--host-header", "x"], 2),
                ("cameo-worker", ["--host-headers", "none.json"], 2), ("cameo-worker", ["--hooks", "none.json"], 2),
                ("cameo-worker", ["--renderer", "/none"], 1),
            ] as [(String, [String], Int32)]
        )
        func allElseHasTheCommandsNameAndNoUsage(command: String, arguments: [String], status: Int32) async throws {
            let result = try await deployment.command(command, arguments)
            #expect(result.exitStatus == status, "\(result.errorText)")
            #expect(result.errorText.hasPrefix("\(command): "), "\(result.errorText)")
            #expect(!result.errorText.contains("Error:") && !result.errorText.contains("Usage:"))
            #expect(result.errorText.split(separator: "\n").count == 1, "\(result.errorText)")
            if let option = arguments.first, command == "cameo-worker", option != "--renderer" {
                #expect(result.errorText.hasPrefix("\(command): \(option)"), "\(result.errorText)")
            }
        }

        @Test(
            arguments: [
                ("CAMEO_GRACE", "x", "Error: The value 'x' is invalid for 'CAMEO_GRACE <duration>'"),
                ("CAMEO_ALLOW_ROOT", "/none", "cameo-worker: CAMEO_ALLOW_ROOT: the allowed folder /none"),
                ("CAMEO_HOST_HEADERS", "/none", "cameo-worker: CAMEO_HOST_HEADERS /none: cannot be read"),
            ]
        )
        func whatTheEnvironmentSaysIsCalledByItsVariable(name: String, value: String, message: String) async throws {
            let result = try await deployment.command("cameo-worker", environment: [name: value])
            #expect(result.exitStatus == 2 && result.errorText.hasPrefix(message), "\(result.errorText)")
        }

        @Test func aStoreOfTheEnvironmentIsCalledByItsVariable() async throws {
            let variable = try await deployment.command("cameo-status")
            #expect(variable.exitStatus == 4 && variable.errorText.hasSuffix(" (from CAMEO_STORE)\n"))
            let option = try await deployment.command("cameo-status", ["--store", deployment.store])
            #expect(option.exitStatus == 4 && !option.errorText.contains("CAMEO_STORE"), "\(option.errorText)")
        }

        @Test func oneIsNotMany() async throws {
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            _ = try await deployment.enqueue("pictures/photo.jpg --size 9x")
            _ = try await deployment.enqueue("pictures/none.jpg --max-attempts 1")
            let drained = try await deployment.drain()
            #expect(drained.outputText.hasPrefix("drained: 1 completed (1 thumbnail), 1 discarded, 0 retries, "))
            #expect(
                drained.errorText.contains("cameo-worker: 1 job was discarded; `cameo-status"),
                "\(drained.errorText)"
            )
            let dry = try await deployment.command("cameo-admin retry --state discarded --dry-run")
            #expect(dry.outputText == "1 job would be available again\n")
            let retried = try await deployment.command("cameo-admin retry --state discarded")
            #expect(retried.outputText == "1 job is available again\n")
            let status = try await deployment.command("cameo-status")
            #expect(status.outputText.contains("1 thumbnail; 1 blob, "), "\(status.outputText)")
            let waited = try await deployment.command(
                "cameo-enqueue pictures/none.jpg --allow-missing --wait --wait-timeout 1ms"
            )
            #expect(waited.exitStatus == 3)
        }

        @Test func namesAreDecodedForReading() async throws {
            let list = "pictures/Käse & Brot #1?.jpg\nhttps://u:p@example.com/caf%C3%A9%20a%2Fb%3F.jpg?x=%26%00%1B\n"
            _ = try await deployment.enqueue("-", input: Data(list.utf8))
            let jobs = try await deployment.command("cameo-status jobs").outputText
            #expect(jobs.contains(" \(deployment.pictures)/Käse & Brot #1?.jpg"), "\(jobs)")
            #expect(jobs.contains("https://example.com/café a%2Fb%3F.jpg?x=%26%00%1B"), "\(jobs)")
            let json = try await deployment.command("cameo-status jobs --json").outputText
            #expect(json.contains("K%C3%A4se%20%26%20Brot%20%231%3F.jpg"), "a program reads it as it is")
        }

        @Test func aWorkerNamesQueuesThatAreNotThere() async throws {
            _ = try await deployment.enqueue("initials:AB --queue imports")
            let result = try await deployment.command("cameo-worker --drain --queues import,imports")
            #expect(result.exitStatus == 0 && result.outputText.contains("1 completed"))
            #expect(result.errorText.contains("warning  there is no queue import yet"), "\(result.errorText)")
            #expect(!result.errorText.contains("no queue imports"))
        }

        @Test func aDrainNamesThePausedQueuesThatItLeaves() async throws {
            _ = try await deployment.enqueue("initials:AB initials:CD --queue imports")
            _ = try await deployment.enqueue("initials:EF")
            _ = try await deployment.command("cameo-admin pause imports")
            let result = try await deployment.drain()
            #expect(result.exitStatus == 0 && result.outputText.contains("1 completed"))
            #expect(result.errorText.contains("warning  the queue imports is paused: 2 jobs wait in it"))
            let other = try await deployment.drain("--queues default")
            #expect(!other.errorText.contains("paused"), "\(other.errorText)")
        }

        @Test func everyProgramSaysTheSameVersion() async throws {
            for program in ["cameo-enqueue", "cameo-status", "cameo-admin", "cameo-worker", "cameo-renderer"] {
                let result = try await run(try Deployment.executable(program), ["--version"])
                #expect(result.exitStatus == 0 && result.outputText == "\(CameoVersion.current)\n", "\(program)")
            }
        }

        @Test(arguments: [true, false])
        func allContainersAndCodecsAreListed(framesAreThere: Bool) async throws {
            let folder = try TemporaryFolder()
            let frames = framesAreThere ? "/bin/true" : folder.path("none")
            let worker = try Deployment.executable("cameo-worker")
            let result = try await run(worker, ["--formats", "--json", "--frames", frames]).succeeded()
            let rows = try JSONDecoder().decode([[String: String]].self, from: result.standardOutput)
            let names = rows.compactMap { $0["format"] }
            #expect(names.starts(with: ["JPEG", "PNG"]))
            for name in VideoContainer.allCases.map(\.name) { #expect(names.contains(name), "\(name)") }
            for codec in VideoFacts.Codec.allCases {
                let row = rows.first { $0["format"]?.hasPrefix("\(codec.rawValue) ") == true }
                #expect(row?["reads"] == (framesAreThere ? "yes" : "no"), "\(codec)")
                #expect(row?["remedy"] == (framesAreThere ? "" : "cameo-frames"))
            }
            let table = try await run(worker, ["--formats", "--frames", frames])
            #expect(table.outputText.hasPrefix("FORMAT\tREADS\tWRITES\tREMEDY\nJPEG\tyes\tyes\t"))
            #expect(table.outputText.split(separator: "\n").count == rows.count + 1)
        }
    }
}
