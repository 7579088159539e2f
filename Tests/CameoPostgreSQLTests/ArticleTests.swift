import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What the article about fleets shows works.
@Suite(.timeLimit(.minutes(10)))
struct ArticleTests {
    @Test func aJobCommitsWithTheRowsOfAnApplication() async throws {
        let blocks = try Page.article("FromOneToMany").blocks.filter { $0.text.contains("INSERT INTO cameo.job") }
        let statements = try #require(blocks.first { $0.language == "sql" }).text
        let script = try #require(blocks.first { $0.language == "python" }).text
        let server = try await PostgreSQLServer.shared()
        let store = try PostgreSQLStore(DatabaseURL(server.url(ofSchema: "cameo")))
        let answer = try await server.sql(
            "CREATE TABLE users(id integer, picture text); INSERT INTO users VALUES (7, NULL), (8, NULL);\n\(statements)",
            schema: "public"
        )
        #expect(answer.contains("|"), "no row of job_status: \(answer)")
        let ran = try await run(
            "/usr/bin/python3",
            ["-"],
            input: Data(script.utf8),
            environment: ["DATABASE_URL": "postgres://cameo@/postgres?host=\(server.folder)"]
        )
        #expect(ran.exitStatus == 0, "\(ran.errorText)")
        #expect(ran.outputText.hasPrefix("('available'"), "\(ran.outputText)")
        let changed = try await server.sql("SELECT picture FROM users ORDER BY id", schema: "public")
        try await store.register(
            WorkerDescription(id: "w1", host: "host", pid: 1, version: "test", concurrency: 4)
        )
        let sources = try await store.claim(limit: 3, for: "w1")
            .map { try ThumbnailRequest(parsing: $0.request.utf8).source }
        #expect(sources.joined(separator: "\n") == changed)
        await store.finish()
    }
}
