internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

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
        help: ArgumentHelp(
            "The file to write, replaced at once so that no reader sees half of it. (default: standard output)",
            valueName: "file"
        ),
        completion: .file()
    )
    var output: String?

    func run() async throws {
        let store = try storeOptions.openReading()
        let text = try await MetricsText(of: store, by: "cameo-status").text(in: .prometheus)
        guard let output else { return Output.bytes(Data(text.utf8)) }
        do {
            try ReportFile.replace(output, with: Data(text.utf8), store: store)
        } catch let error as ExportError {
            throw CommandFailure(error.description, .failed)
        }
    }
}
