import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// A store of its own with the roles of `deploy/postgresql/roles.sql`, and a login for each.
struct RoleServer {
    enum Role: String, CaseIterable { case producer, reader, worker, operate = "operator" }

    static let script = Repository.file("deploy/postgresql/roles.sql").path

    let server: PostgreSQLServer
    let schema: String
    /// The store as the tables' owner opens it.
    let owner: PostgreSQLStore

    init(producersRead: Bool? = nil, clock: StoreClock? = nil) async throws {
        server = try await .shared()
        let url = try DatabaseURL(server.newURL())
        schema = url.schema
        owner = try PostgreSQLStore(url, clock: clock)
        // As default privileges of a careful operator do.
        _ = try await server.sql("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA \(schema) FROM PUBLIC", schema: schema)
        try await grant(producersRead: producersRead)
        let logins = Role.allCases.map { "CREATE ROLE \(login($0)) LOGIN IN ROLE \(schema)_\($0.rawValue);" }
        _ = try await server.sql(logins.joined(separator: "\n"), schema: schema)
    }

    func grant(producersRead: Bool?) async throws {
        let choice = producersRead.map { ["-v", "producers_read=\($0 ? "on" : "off")"] } ?? []
        let result = try await server.psql(["-v", "schema=\(schema)"] + choice + ["-f", Self.script])
        #expect(result.exitStatus == 0 && result.errorText.isEmpty && result.outputText.isEmpty, "\(result)")
    }

    private func login(_ role: Role) -> String { "\(schema)_\(role.rawValue)_1" }

    func url(of role: Role) throws -> DatabaseURL {
        try DatabaseURL(server.url(ofSchema: schema, user: login(role)))
    }

    /// Opens the store as the role's programs do.
    func open(_ role: Role, _ access: PostgreSQLStore.Access = .creating, clock: StoreClock? = nil) throws
        -> PostgreSQLStore
    {
        try PostgreSQLStore(url(of: role), access, clock: clock)
    }

    @discardableResult
    func sql(_ statements: String, as role: Role) async throws -> String {
        try await server.sql(statements, schema: schema, user: login(role))
    }

    /// Checks that the server refuses each statement for lack of a right.
    func refuses(_ statements: [String], to role: Role) async throws {
        for statement in statements {
            let input = "SET search_path TO \(schema);\n\\set VERBOSITY sqlstate\n\(statement);\n"
            let result = try await server.psql(["-v", "ON_ERROR_STOP=1"], input: input, user: login(role))
            #expect(result.exitStatus != 0 && result.errorText.contains("42501"), "\(role): \(statement): \(result)")
        }
    }

    func denies<Value>(_ call: () async throws -> Value) async {
        let error = await #expect(throws: StoreError.self) { _ = try await call() }
        guard case .denied(_, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("permission denied") || reason.contains("may only enqueue"), "\(reason)")
    }
}
