internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract:
            "Check that workers are alive, jobs do not wait too long and hooks are told, for monitors and scripts.",
        discussion: """
            Prints one line per check. Jobs in paused queues and in background queues are ignored. Deliveries to hooks that \
            were given up are not: cameo-admin hooks retry tries them again. \(Duration.explanation)

            EXAMPLES
              cameo-status health
              cameo-status health --workers 2 --max-lag 5m
              cameo-status health --json

            EXIT CODES
              0 healthy, 1 not healthy, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        parsing: .unconditional,
        help: "The number of workers that must be alive and not stopping.".taking("number")
    )
    var workers = 1

    @Option(help: "The longest time that a due job may wait, such as 5m. (default: no limit)".taking("duration"))
    var maxLag: Duration?

    @Flag(help: "Prints a health-report (JSON).")
    var json = false

    func validate() throws {
        guard workers >= 0 else { throw ValidationError("--workers \(workers): must not be negative") }
    }

    func run() async throws {
        let status = try await storeOptions.openReading().status()
        let report = HealthReport(status, workers: workers, maxLag: maxLag)
        let lines = report.checks.map {
            "\($0.isHealthy ? "ok" : "failed")\t\($0.name.rawValue)\t\(TerminalText.escaped($0.detail))"
        }
        try Output.answer(report, asJSON: json, lines)
        guard report.isHealthy else { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print counters, durations and sizes in the text format of Prometheus.",
        discussion: """
            For the textfile collector of node_exporter, run it from a timer with --output. cameo-web serves the same at \
            /metrics.

            EXAMPLES
              cameo-status metrics
              cameo-status metrics --output /var/lib/prometheus/node-exporter/cameo.prom

            EXIT CODES
              0 done, 1 the file cannot be written, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        help: """
            The file to write, replaced at once so that no reader sees half of it. (default: standard output)
            """.taking("file"),
        completion: .file()
    )
    var output: String?

    func run() async throws {
        let store = try storeOptions.openReading()
        let text = try await MetricsText(of: store, by: "cameo-status").text(in: .prometheus)
        guard let output else { return Output.bytes(Data(text.utf8)) }
        try ReportFile.replace(output, with: Data(text.utf8), store: store)
    }
}

struct HooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks",
        abstract: "Show the deliveries of each hook, and those that failed.",
        discussion: """
            A delivery waits until a worker that knows the hook (`cameo-worker --hooks`) has made it. After the hook's \
            maxAge, three days by default, it has failed; `cameo-admin hooks retry` tries it again.

            EXAMPLES
              cameo-status hooks
              cameo-status hooks --json

            EXIT CODES
              0 done, 1 a delivery has failed, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(parsing: .unconditional, help: "Failures to show of each hook.".taking("number"))
    var failures = 10

    @Flag(help: "Print each hook as a hook-report (JSON), one per line.")
    var json = false

    func validate() throws {
        guard failures >= 0 else { throw ValidationError("--failures \(failures): must not be negative") }
    }

    func run() async throws {
        let reports = try await storeOptions.openReading().hooks(failures: failures)
        for report in reports {
            try Output.answer(report, asJSON: json, HookText.lines(report, escape: TerminalText.escaped))
        }
        if reports.contains(where: { $0.failed > 0 }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
