import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The completion scripts, run as a shell runs them.
    @Suite(.timeLimit(.minutes(10)))
    struct CompletionTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment()
            try deployment.folder.write(Data(), to: "photo.jpg")
            try deployment.folder.write(Data(), to: "pick.png")
        }

        /// What bash offers for the last of the words.
        private func offers(_ words: String...) async throws -> [String] {
            let bin = URL(filePath: try Deployment.executable(words[0])).deletingLastPathComponent().path
            let script = """
                PATH='\(bin)':$PATH; command=$1; source <("$1" --generate-completion-script bash)
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
                "_$command" "$command" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let result = try await run(
                "/bin/bash",
                ["-c", script, "bash"] + words,
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            )
            #expect(result.exitStatus == 0 && result.errorText.isEmpty, "\(result.errorText)")
            return result.outputText.split(separator: "\n").map(String.init).sorted()
        }

        @Test func sourcesAreFiles() async throws {
            #expect(try await offers("cameo-enqueue", "p") == ["photo.jpg", "pick.png", "pictures"])
            #expect(try await offers("cameo-enqueue", "photo.jpg", "pi") == ["pick.png", "pictures"])
            #expect(try await offers("cameo-enqueue", "photo.jpg", "--overlay", "ph") == ["photo.jpg"])
            #expect(try await offers("cameo-admin", "forget", "ph") == ["photo.jpg"])
            #expect(try await offers("cameo-worker", "--allow-root", "pi") == ["pictures"])
        }

        @Test func wordsAreThoseThatThereAre() async throws {
            #expect(
                try await offers("cameo-status", "jobs", "--state", "") == JobState.allCases.map(\.rawValue).sorted()
            )
            #expect(try await offers("cameo-status", "jobs", "--code", "source.ti") == ["source.timeout"])
            #expect(try await offers("cameo-admin", "retry", "--code", "worker.") == ["worker.lost"])
            #expect(try await offers("cameo-enqueue", "--fit", "co") == ["contain", "cover"])
            #expect(try await offers("cameo-enqueue", "--gravity", "north") == ["north", "northeast", "northwest"])
            #expect(try await offers("cameo-worker", "--log-level", "err") == ["error"])
        }

        @Test func queuesAreTheStores() async throws {
            #expect(try await offers("cameo-enqueue", "--queue", "").isEmpty, "there is no store yet")
            _ = try await deployment.enqueue("initials:AB --queue imports")
            _ = try await deployment.enqueue("initials:AB --queue images")
            let queues = ["images", "imports"]
            #expect(try await offers("cameo-enqueue", "--queue", "im") == queues)
            #expect(try await offers("cameo-status", "jobs", "--queue", "im") == queues)
            #expect(try await offers("cameo-admin", "pause", "im") == queues)
            #expect(try await offers("cameo-admin", "queue", "imp") == ["imports"])
            #expect(try await offers("cameo-worker", "--queues", "im") == queues)
            let here = try await offers("cameo-status", "jobs", "--store", "nowhere", "--queue", "im")
            #expect(here.isEmpty, "of the store that was typed")
        }

        @Test func presetsAreThoseOfTheFileToo() async throws {
            let builtIn = try PresetFile.builtIn().all.map(\.name).sorted()
            #expect(try await offers("cameo-enqueue", "--preset", "") == builtIn)
            try deployment.folder.write(
                Data(#"{"presets":{"zebra":{"renditions":[{"width":7}]}}}"#.utf8),
                to: "presets.json"
            )
            #expect(try await offers("cameo-enqueue", "--presets", "presets.json", "--preset", "z") == ["zebra"])
        }

        @Test(arguments: ["cameo-enqueue", "cameo-worker"])
        func aCommandWithoutSubcommandsOffersNone(command: String) async throws {
            #expect(try await offers(command, "hel").isEmpty)
            for shell in ["zsh", "fish"] {
                let arguments = ["--generate-completion-script", shell]
                let script = try await run(try Deployment.executable(command), arguments).outputText
                // zsh completes no arguments if this remains beside them.
                #expect(!script.contains(":->arg'") && !script.contains("-fa 'help'"))
                let other = try await run(try Deployment.executable("cameo-admin"), arguments).outputText
                #expect(other.contains(":->arg'") || other.contains("-fa 'help'"))
            }
        }

        /// A shell that is not installed cannot judge its script.
        @Test(arguments: ["cameo-enqueue", "cameo-status", "cameo-admin", "cameo-worker"], ["bash", "zsh", "fish"])
        func everyShellReadsItsScript(command: String, shell: String) async throws {
            let script = try await run(try Deployment.executable(command), ["--generate-completion-script", shell])
            #expect(script.exitStatus == 0 && script.outputText.contains(command), "\(script.errorText)")
            let there = try await run("/bin/sh", ["-c", "command -v \(shell)"])
            guard there.exitStatus == 0 else { return }
            let path = try deployment.folder.write(script.standardOutput, to: "script")
            let read = try await run(shell, ["-n", path])
            #expect(read.exitStatus == 0 && read.errorText.isEmpty, "\(read.errorText)")
        }
    }
}
