import Foundation
import TestSupport

/// A Prometheus, and a node_exporter with nothing but its textfile collector, on ports of their own until they are released.
final class Prometheus: Sendable {
    private struct Answer<Content: Decodable>: Decodable {
        let data: Content
    }

    private struct Alerts: Decodable {
        struct Alert: Decodable {
            let labels: [String: String]
            let state: String
        }

        let alerts: [Alert]
    }

    private struct Query: Decodable {
        struct Series: Decodable {}

        let result: [Series]
    }

    private let processes: [ChildProcess]
    private let address: String

    /// - Parameters:
    ///   - rules: the text of a file of rules.
    ///   - server: the address of a `cameo-web`, which is scraped too; nil: only node_exporter is.
    ///   - files: the folder of its files of metrics.
    ///   - folder: where it may write.
    /// - Throws: what starting a process throws.
    init(rules: String, server: String?, files: String, in folder: TemporaryFolder) async throws {
        let exporter = try ChildProcess(
            "prometheus-node-exporter",
            [
                "--collector.disable-defaults", "--collector.textfile", "--collector.textfile.directory=\(files)",
                "--web.listen-address=127.0.0.1:0",
            ]
        )
        let jobs = ["node": try await Self.address(of: exporter), "cameo": server].compactMapValues(\.self)
        try folder.write(Data(rules.utf8), to: "cameo.rules.yml")
        let settings = """
            global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
            rule_files: [cameo.rules.yml]
            scrape_configs:

            """
            + jobs.map { "- {job_name: \($0.key), static_configs: [{targets: ['\($0.value)']}]}" }.joined(
                separator: "\n"
            )
        let file = try folder.write(Data(settings.utf8), to: "prometheus.yml")
        let server = try ChildProcess(
            "prometheus",
            [
                "--config.file=\(file)", "--storage.tsdb.path=\(folder.path("tsdb"))",
                "--web.listen-address=127.0.0.1:0",
            ]
        )
        processes = [exporter, server]
        address = try await Self.address(of: server)
    }

    deinit { for process in processes { process.killGroup() } }

    /// Where a program of Prometheus's family says that it listens.
    private static func address(of process: ChildProcess) async throws -> String {
        var address: String?
        try await eventually("it listens") {
            let log = String(decoding: process.standardError, as: UTF8.self)
            address = log.firstMatch(of: #/msg="Listening on".*? address=(127\.0\.0\.1:\d+)/#).map {
                String($0.output.1)
            }
            return address != nil
        }
        return address ?? ""
    }

    private func ask<Content: Decodable>(_ path: String, _ query: String = "") async throws -> Content? {
        let arguments = ["-s", "--get", "http://\(address)/api/v1/\(path)", "--data-urlencode", "query=\(query)"]
        // Nothing, or words, until it is ready.
        return try? JSONDecoder().decode(Answer<Content>.self, from: try await run("curl", arguments).standardOutput)
            .data
    }

    /// The names of the alerts that fire; nil if it does not say.
    func firing() async throws -> Set<String>? {
        let alerts: Alerts? = try await ask("alerts")
        return alerts.map { Set($0.alerts.filter { $0.state == "firing" }.compactMap { $0.labels["alertname"] }) }
    }

    /// Whether an expression has a result.
    func has(_ expression: String) async throws -> Bool {
        let query: Query? = try await ask("query", expression)
        return query?.result.isEmpty == false
    }
}
