import Foundation
import TestSupport

/// A store in a PostgreSQL database whose large blobs are in a bucket, and the commands on it. Both servers are real and
/// of this fleet alone.
struct Fleet {
    /// Whether the debug build is one for fleets; the release build that other tests run is not.
    static var isBuilt: Bool { ProcessInfo.processInfo.environment["CAMEO_FLEET"] == "1" }

    let deployment: Deployment
    let database: PostgreSQLServer
    let objects: ObjectServer
    /// What the commands find the store and its bytes by.
    let variables: [String: String?]

    init() async throws {
        deployment = try Deployment()
        database = try await PostgreSQLServer()
        objects = try await ObjectServer.start(.swift)
        var variables: [String: String?] = [
            // Chooses the debug build.
            "CAMEO_TEST_FLEET": "1",
            "CAMEO_STORE": database.url(ofSchema: "cameo"),
            "CAMEO_BLOBS": objects.name("pictures"),
        ]
        for (name, value) in objects.environment { variables[name] = value }
        self.variables = variables
    }

    func command(
        _ line: String,
        _ more: [String] = [],
        input: Data? = nil,
        environment: [String: String?] = [:]
    ) async throws -> ProcessResult {
        try await deployment.command(line, more, input: input, environment: variables.merging(environment) { $1 })
    }

    func startWorker() throws -> ChildProcess {
        try deployment.startWorker(["--log-level", "error", "--render-concurrency", "1"], environment: variables)
    }

    /// Returns when each of them is known to the database: a worker that cannot reach it as it starts ends.
    func startWorkers(_ count: Int) async throws -> [ChildProcess] {
        let workers = try (0..<count).map { _ in try startWorker() }
        let processIDs = workers.map { String($0.processID) }.joined(separator: ", ")
        try await eventually("the workers are registered") {
            try await number("SELECT count(*) FROM worker WHERE pid IN (\(processIDs))") >= count
        }
        return workers
    }

    var store: String { database.url(ofSchema: "cameo") }

    /// Starts `cameo-web`, and returns when it has printed its URL. It is to be killed.
    func startWeb(_ arguments: String...) async throws -> (process: ChildProcess, url: String) {
        let process = try ChildProcess(
            try Deployment.executable("cameo-web"),
            ["--listen", "127.0.0.1:0"] + arguments,
            environment: variables
        )
        while true {
            let printed = String(decoding: process.standardOutput, as: UTF8.self)
            if printed.hasSuffix("\n") { return (process, String(printed.dropLast())) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func sql(_ statements: String) async throws -> String { try await database.sql(statements, schema: "cameo") }

    func number(_ query: String) async throws -> Int { Int(try await sql(query)) ?? -1 }
}
