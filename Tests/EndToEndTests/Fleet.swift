import Foundation
import TestSupport

/// A store in a PostgreSQL database whose large blobs are in a bucket, and the commands on it. Both servers are real and
/// of this fleet alone.
struct Fleet {
    /// Whether the debug build is one for fleets; the release build that other tests run is not.
    static var isBuilt: Bool { ProcessInfo.processInfo.environment["CAMEO_FLEET"] == "1" }

    let deployment: Deployment
    let database: PostgreSQLServer
    private let objects: ObjectServer
    private let variables: [String: String?]

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
        _ name: String,
        _ arguments: String...,
        environment: [String: String?] = [:]
    ) async throws -> ProcessResult {
        try await deployment.command(name, arguments, environment: variables.merging(environment) { $1 })
    }

    func startWorker() throws -> ChildProcess {
        try deployment.startWorker(["--log-level", "error", "--render-concurrency", "1"], environment: variables)
    }

    /// Starts a command on the store in the deployment's folder, in a build for fleets.
    func startOnFolder(_ name: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            try Deployment.executable(name, environment: variables),
            arguments,
            environment: variables.merging(["CAMEO_STORE": deployment.store]) { $1 },
            currentDirectory: deployment.folder.url
        )
    }

    var store: String { database.url(ofSchema: "cameo") }

    func sql(_ statements: String) async throws -> String { try await database.sql(statements, schema: "cameo") }

    func number(_ query: String) async throws -> Int { Int(try await sql(query)) ?? -1 }
}
