import CameoModel
import CameoQueue
import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// `sslmode=verify-full` proves which server answers.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TransportTests {
    private let server: PostgreSQLServer
    private let port: Int

    init() async throws {
        server = try await PostgreSQLServer(tls: true)
        port = try #require(server.port)
    }

    private func url(host: String, authority: String) throws -> DatabaseURL {
        try DatabaseURL("postgres://cameo@\(host):\(port)/postgres?sslmode=verify-full&sslrootcert=\(authority)")
    }

    @Test func aServerWithItsCertificateIsTrusted() async throws {
        let store = try PostgreSQLStore(url(host: "localhost", authority: server.certificateAuthority))
        #expect(try await store.enqueue([StoreFixture.request()])[0].id == 1)
        let isEncrypted: Bool? = try await store.read { db in
            try db.value(
                "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'cameo'"
            )
        }
        #expect(isEncrypted == true)
    }

    @Test func theServerThatTakesOverProvesItselfToo() async throws {
        let next = try await PostgreSQLServer(tls: true)
        let store = try PostgreSQLStore(
            DatabaseURL(
                "postgres://cameo@localhost:\(port),localhost:\(#require(next.port))/postgres?sslmode=verify-full"
                    + "&sslrootcert=\(server.certificateAuthority)"
            )
        )
        #expect(try await store.enqueue([StoreFixture.request()])[0].id == 1)
        try await server.stop(.immediate)
        let refusal = await #expect(throws: StoreError.self) { try await store.status() }
        guard case .unreachable(_, let reason)? = refusal else { throw try #require(refusal) }
        #expect(reason.contains("certificate verify failed"), "\(reason)")
        try await server.start()
        #expect(try await store.job(1).state == .available)
    }

    @Test func anotherNameOrAuthorityIsNot() async throws {
        let stranger = try await PostgreSQLServer(tls: true)
        for url in [
            try url(host: "127.0.0.1", authority: server.certificateAuthority),
            try url(host: "localhost", authority: stranger.certificateAuthority),
            try url(host: "localhost", authority: "/nowhere/ca.pem"),
        ] {
            let failure = #expect(throws: StoreError.self) { try PostgreSQLStore(url) }
            guard case .unreachable(_, let reason)? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(reason.contains("certificate"), "\(reason)")
        }
    }
}
