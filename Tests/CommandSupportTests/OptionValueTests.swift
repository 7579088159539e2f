import CameoModel
import Foundation
import Testing

@testable import CommandSupport

/// Every option that takes a duration, or a size, reads it in every form, and refuses all else by its name.
@Suite(.timeLimit(.minutes(10)))
struct OptionValueTests {
    /// Options that one command line takes together; what ends with `=` is a part of the value of the option before it.
    struct Line: Sendable, CustomTestStringConvertible {
        let typed: String
        let options: [String]

        init(_ typed: String, takes options: String...) { (self.typed, self.options) = (typed, options) }

        var testDescription: String { typed }
    }

    private static let lines = [
        Line(
            "cameo-enqueue --allow-missing a.jpg --wait --size 9x --storyboard 2x2",
            takes: "--at",
            "--storyboard interval=",
            "--retry base=",
            "--retry cap=",
            "--timeout",
            "--wait-timeout"
        ),
        Line("cameo-status job 1 --wait", takes: "--wait-timeout"),
        Line("cameo-status batch b --wait", takes: "--wait-timeout"),
        Line("cameo-status health", takes: "--max-lag"),
        Line("cameo-admin snooze 1", takes: "--for"),
        Line("cameo-admin worker stop --all --wait", takes: "--wait-timeout"),
        Line("cameo-admin backfill --preset gallery", takes: "--since"),
        Line(
            "cameo-admin prune",
            takes: "--keep completed=",
            "--keep cancelled=",
            "--keep discarded=",
            "--keep thumbnails="
        ),
        worker,
    ]

    private static let worker = Line(
        "cameo-worker",
        takes: "--keep completed=",
        "--keep cancelled=",
        "--keep discarded=",
        "--keep thumbnails=",
        "--grace",
        "--job-timeout",
        "--retry base=",
        "--retry cap=",
        "--fetch-timeout",
        "--fetch-timeout connect=",
        "--cache-time",
        "--stale-if-error",
        "--remember-failures",
        "--render-timeout"
    )

    /// Some hours in each notation, for which thumbnails are kept at least.
    private static let durations = ["18000", "18000.5", "18000000ms", "18000s", "300m", "5h", "0.25d"]
    private static let sizes = ["1073741824", "1024M", "1G", "1GiB", "1g"]
    private static let sizeOptions = [
        "--max-source-bytes", "--memory-limit", "--recycle resident=", "--fetch-timeout low-speed=", "--max-cache",
        "--max-bytes-in-flight",
    ]

    /// The words of an option with a value.
    private func words(_ option: String, _ value: String) -> [String] {
        let parts = option.split(separator: " ").map(String.init)
        return parts.count == 1 ? ["\(option)=\(value)"] : [parts[0], parts[1] + value]
    }

    @Test(arguments: lines)
    func everyDurationIsRead(line: Line) async throws {
        for duration in Self.durations {
            // An attempt's time is limited to an hour.
            let given = line.options.flatMap { words($0, $0 == "--timeout" ? "1.5m" : duration) }
            let mistake = try await TypedLine(line.typed, given).mistake()
            #expect(mistake == nil, "\(given): \(mistake?.text ?? "")")
        }
    }

    @Test(arguments: lines)
    func whatIsNoDurationIsRefusedByTheNameOfItsOption(line: Line) async throws {
        for option in line.options {
            for text in ["90x", "1y", "soon", "10 s"] {
                let mistake = try #require(try await TypedLine(line.typed, words(option, text)).mistake(), "\(option)")
                let name = String(option.prefix { $0 != " " })
                #expect(mistake.status == .usage && mistake.text.contains(name), "\(mistake.text)")
            }
        }
    }

    @Test func theEnvironmentIsReadAsTheCommandLineIs() async throws {
        for option in Self.worker.options {
            let parts = option.split(separator: " ").map(String.init)
            let variable = "CAMEO_" + parts[0].dropFirst(2).uppercased().replacing("-", with: "_")
            let part = parts.dropFirst().joined()
            for duration in Self.durations {
                let line = try TypedLine("cameo-worker", environment: [variable: part + duration])
                #expect(try await line.mistake() == nil, "\(option) \(duration)")
            }
            let wrong = try await TypedLine("cameo-worker", environment: [variable: "\(part)90x"]).mistake()
            #expect(
                wrong?.status == .usage && wrong?.text.contains(variable) == true,
                "\(option): \(wrong?.text ?? "")"
            )
        }
    }

    @Test(arguments: [
        ("--job-timeout", "--job-timeout"), ("--fetch-timeout", "--fetch-timeout"),
        ("--render-timeout", "--render-timeout"),
        ("--fetch-timeout connect=", "--fetch-timeout: connect"),
    ])
    func aTimeInWhichNothingCanBeDoneIsRefused(option: String, name: String) async throws {
        for (text, shown) in [("0.05", "50ms"), ("50ms", "50ms"), ("0", "0s")] {
            let mistake = try await TypedLine("cameo-worker", words(option, text)).mistake()
            #expect(
                mistake?.text.contains("\(name) \(shown): must be at least 100ms") == true,
                "\(mistake?.text ?? "")"
            )
        }
    }

    @Test(arguments: ["cameo-admin prune", "cameo-worker --drain"])
    func thumbnailsAreKeptForSomeHoursAtLeast(typed: String) async throws {
        let mistake = try await TypedLine("\(typed) --keep thumbnails=90").mistake()
        #expect(mistake?.text.contains("at least 4h, not 90s") == true, "\(mistake?.text ?? "")")
        #expect(try await TypedLine("\(typed) --keep completed=0s,thumbnails=forever").mistake() == nil)
    }

    @Test(arguments: sizeOptions)
    func everySizeIsReadAndAllElseRefused(option: String) async throws {
        for text in Self.sizes {
            #expect(try await TypedLine("cameo-worker", words(option, text)).mistake() == nil, "\(text)")
        }
        for text in ["1X", "-1", "1.5.G", "", "much", "9999999999G"] {
            let mistake = try await TypedLine("cameo-worker", words(option, text)).mistake()
            let name = String(option.prefix { $0 != " " })
            #expect(mistake?.text.contains(name) == true, "\(option) \(text): \(mistake?.text ?? "none")")
        }
    }

    /// The tables above have every such option; a part of a value is named in its option's help.
    @Test(arguments: TypedLine.commands.keys.sorted())
    func theTablesHaveThemAllAndTheHelpExplainsThem(command: String) async throws {
        for (words, help) in try CommandHelp.all(of: command) {
            let taken = help.options.filter { $0.valueName?.contains("duration") == true }.map(\.name)
            let line = Self.lines.first {
                $0.typed.split(separator: " ").prefix(words.count).elementsEqual(words[...].map { $0[...] })
            }
            let known = Set(line?.options.map { String($0.prefix { $0 != " " }) } ?? [])
            #expect(known.isSuperset(of: taken), "\(words): \(taken)")
            #expect(!help.options.contains { ["seconds", "MiB", "KiB", "bytes"].contains($0.valueName) }, "\(words)")
            guard !taken.isEmpty else { continue }
            let text = try await CommandHelp.page(of: words).split(whereSeparator: \.isWhitespace).joined(
                separator: " "
            )
            #expect(text.contains("without a unit it is in seconds") && text.contains("250ms, 30s, 10m, 1.5h or 7d"))
        }
    }
}
