import CameoModel
import Foundation
import TestSupport
import Testing

@testable import CommandSupport

/// What a wrong command line is told, and what help, pages and variables have in common.
@Suite(.timeLimit(.minutes(10)))
struct UsageTests {
    @Test(arguments: [
        "cameo-enqueue", "cameo-enqueue --nonsense a.jpg", "cameo-enqueue data:, --queue Ü", "cameo-enqueue --fit",
        "cameo-enqueue data:, --size 9", "cameo-enqueue data:, --at noon", "cameo-enqueue data:, --metadata []",
        "cameo-enqueue data:, --preset nosuch",
        "cameo-status nonsense", "cameo-status cat x", "cameo-status cat cameo://thumb/xyz",
        "cameo-status jobs --state lost", "cameo-status job seven",
        "cameo-admin pause Ü --create", "cameo-admin hooks retry", "cameo-admin limit --key k",
        "cameo-admin limit --max-running 3", "cameo-admin limit --key k --max-running 0",
        "cameo-admin snooze 1", "cameo-admin retry", "cameo-admin retry 1 --state discarded",
        "cameo-admin retry 1 --dry-run", "cameo-admin retry --code nonsense", "cameo-admin retry --queue a --limit 0",
        "cameo-admin retry --source ''", "cameo-admin cancel --source ''", "cameo-admin prune --keep completed=soon",
        "cameo-admin worker stop", "cameo-status events --since -1", "cameo-worker --max-connections 0",
        "cameo-worker --grace inf", "cameo-worker --job-timeout 1e300", "cameo-worker --queues ,",
        "cameo-worker --memory-limit 9223372036854775807", "cameo-worker --cache-time =1d",
        "cameo-worker --concurrency 0", "cameo-worker --nonsense", "cameo-worker --allow-network everything",
    ])
    func aWrongCommandLineHasErrorAndUsage(typed: String) async throws {
        let mistake = try #require(try await TypedLine(typed).mistake())
        #expect(mistake.status == .usage)
        #expect(mistake.text.hasPrefix("Error: "), "\(mistake.text)")
        let command = typed.prefix { $0 != " " }
        #expect(mistake.text.contains("\nUsage: \(command)"), "\(mistake.text)")
        #expect(mistake.text.contains("\n  See '\(command)"), "\(mistake.text)")
    }

    @Test(arguments: [
        ("cameo-enqueue --store '' a.jpg", "--store: must name a folder"),
        ("cameo-status --store ''", "--store: must name a folder"),
        ("cameo-status jobs --limit -1", "--limit -1: must be at least 1"),
        ("cameo-status hooks --failures -1", "--failures -1: must not be negative"),
        ("cameo-status health --max-lag=-1", "'-1'"), ("cameo-status health --workers -1", "--workers -1: must not be"),
        ("cameo-status sheet - --json", "--json needs a file"), ("cameo-status --watch --json", "events --follow"),
        ("cameo-status thumb", "Missing expected argument '<thumbnail> ...'"),
        ("cameo-status thumb cameo://blob/x", "'cameo://blob/x' is invalid for '<thumbnail>'"),
        ("cameo-status thumbs --source ''", "--source: must not be empty"),
        ("cameo-status thumbs --label ''", "--label: must not be empty"),
        ("cameo-status thumbs --digest 12", "--digest 12: must be 64 lower-case hexadecimal digits"),
        ("cameo-status thumbs --since noon", "--since noon: must be a time"),
        ("cameo-status thumbs --limit 0", "--limit 0: must be at least 1"),
        ("cameo-status thumbs --after x", "'x' is invalid for '--after"),
        ("cameo-status export out --since noon", "--since noon: must be a time"),
        ("cameo-status export out seven", "'seven' is invalid for '<job>"),
        ("cameo-status sheet a.html 7 --label l", "give either the ids of jobs or options"),
        ("cameo-status jobs --csv --json", "--csv: not with --json"),
        ("cameo-admin limit --key '' --max-running 1", "--key: must be 1 to 200 characters"),
        ("cameo-admin limit --key a\nb --max-running none", "--key: must be 1 to 200 characters"),
        ("cameo-admin limit --key k --max-running -1", "-1: must be between 1 and 10000"),
        ("cameo-admin limit --key k --max-running 10001", "between 1 and 10000"),
        ("cameo-admin limit --key k --rate -1/s", "'-1/s'"), ("cameo-admin limit --rate 1/s", "need --key"),
        ("cameo-admin queue default --max-running -1", "--max-running -1: must be at least 1"),
        ("cameo-admin queue default --rate 0/s", "'0/s'"), ("cameo-admin queue --rate 1/s", "need a queue's name"),
        ("cameo-admin queue --hook site", "need a queue's name"),
        ("cameo-admin queue default --hook a/b", "--hook a/b: must be 1 to 64"),
        ("cameo-admin snooze 1 --for -1m", "'-1m'"), ("cameo-admin backfill", "name the --preset"),
        ("cameo-admin backfill --preset gallery --since noon", "--since noon: must be a time"),
        ("cameo-admin backfill --preset gallery --source ''", "--source: must not be empty"),
        ("cameo-enqueue ''", "a SOURCE is empty"), ("cameo-enqueue /none/*.jpg", "no file matches /none/*.jpg"),
        ("cameo-enqueue --watch --data", "--watch needs a folder"),
        ("cameo-enqueue --watch pictures --wait", "--watch never ends"),
        ("cameo-worker --allow-format psd", "jxl and pdf"), ("cameo-worker --allow-format jpeg", "jxl and pdf"),
        ("cameo-worker --allow-format jxl,", "jxl and pdf"), ("cameo-worker --allow-format jxl,psd", "jxl and pdf"),
        ("cameo-worker --memory-limit 1536", "--memory-limit 1536: must be between 512MiB and 1TiB"),
        ("cameo-enqueue data:, --qualty 9", "Unknown option '--qualty'. Did you mean '--quality'?\nUsage:"),
        ("cameo-enqueue data:, --max-attemps 9", "Unknown option '--max-attemps'. Did you mean '--max-attempts'?"),
        ("cameo-enqueue data:, --presett 9", "Unknown option '--presett'. Did you mean '--preset'?"),
        ("cameo-enqueue data:, --xyzzyxyzzy 9", "Error: Unknown option '--xyzzyxyzzy'\nUsage:"),
        ("cameo-enqueue -photo.jpg", "Unknown option '-photo.jpg'. Write a name that begins with - after --"),
        ("cameo-enqueue -0 photo.jpg", "-0 needs a list"),
    ])
    func aMistakeIsNamed(typed: String, message: String) async throws {
        let mistake = try #require(try await TypedLine(typed).mistake())
        #expect(mistake.status == .usage && mistake.text.contains(message), "\(mistake.text)")
    }

    @Test(arguments: [
        ("CAMEO_GRACE", "x", "Error: The value 'x' is invalid for 'CAMEO_GRACE <duration>'"),
        ("CAMEO_CONCURRENCY", "0", "Error: CAMEO_CONCURRENCY 0: must be between 1"),
        ("CAMEO_ALLOW_NETWORK", "x", "Error: CAMEO_ALLOW_NETWORK x: must be a network"),
        ("CAMEO_DRAIN", "maybe", "Error: The option 'CAMEO_DRAIN' does not take any value"),
        ("CAMEO_MEMORY_LIMIT", "1", "Error: CAMEO_MEMORY_LIMIT 1: must be"),
    ])
    func whatTheEnvironmentSaysIsCalledByItsVariable(name: String, value: String, message: String) async throws {
        let mistake = try await TypedLine("cameo-worker", environment: [name: value]).mistake()
        #expect(mistake?.status == .usage && mistake?.text.hasPrefix(message) == true, "\(mistake?.text ?? "none")")
    }

    @Test(arguments: TypedLine.commands.keys.sorted())
    func helpHasExamplesAndExitCodes(command: String) async throws {
        let page = try await CommandHelp.page(of: [command])
        #expect(page.contains("EXAMPLES") && page.contains("EXIT CODES"))
    }

    @Test func waitingHasOneWord() throws {
        for command in TypedLine.commands.keys {
            for (words, help) in try CommandHelp.all(of: command) {
                let names = help.options.map(\.name)
                #expect(names.contains("--wait") == names.contains("--wait-timeout"), "\(words)")
                #expect(!names.contains("--timeout") || words == ["cameo-enqueue"], "\(words)")
                #expect(!names.contains("--none"), "\(words)")
            }
        }
    }

    /// All commands except those that write bytes, pictures or metrics, print help, or answer in nothing but JSON.
    @Test(arguments: ["cameo-admin", "cameo-status"])
    func everySubcommandAnswersInJSON(command: String) throws {
        for (words, help) in try CommandHelp.all(of: command)
        where help.isLeaf && !["cat", "events", "metrics"].contains(words.last)
            && (command, words.last) != ("cameo-admin", "export")
        {
            #expect(help.options.contains { $0.name == "--json" }, "\(words.joined(separator: " "))")
        }
    }

    /// Variables in pages, samples and scripts, and those that programs and tests read.
    @Test func everyVariableThatIsWrittenOfIsKnown() throws {
        // Prefixes of many variables; the last is a constant of C.
        let others: Set = ["CAMEO_", "CAMEO_TEST_", "CAMEO_MAXIMUM_DESCRIPTORS"]
        var found: Set<String> = []
        for folder in ["README.md", "proto-json", "deploy", "Sources", "Tests/Laboratory"] {
            let root = Repository.file(folder)
            let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap {
                $0 as? URL
            }
            for file in [root] + (files ?? []) where !["h", "c"].contains(file.pathExtension) {
                guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                found.formUnion(text.matches(of: #/\bCAMEO_[A-Z_]*/#).map { String($0.output) })
            }
        }
        #expect(found.isSuperset(of: ["CAMEO_STORE", "CAMEO_GRACE", "CAMEO_PRESETS", "CAMEO_TEST_LEASE_MS"]))
        let environment = Dictionary(uniqueKeysWithValues: found.subtracting(others).map { ($0, "1") })
        let options = try EnvironmentOptions.variables(
            of: TypedLine("cameo-worker").root,
            prefix: CameoVariables.prefix
        )
        #expect(CameoVariables.unknown(in: environment, options: options) == [])
    }

    /// The page of all options is what the built commands say.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["CAMEO_WEB"] == "1", "cameo-web is not built"))
    func thePageHasEveryOption() async throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(filePath: own).deletingLastPathComponent().path
        let script = Repository.file("deploy/checking/options").path
        let result = try await run("/usr/bin/env", ["python3", script, folder, "--check"])
        #expect(result.exitStatus == 0, "\(result.errorText)")
    }
}
