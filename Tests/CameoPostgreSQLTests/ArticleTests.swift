import CameoModel
import CameoStore
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What the article about fleets shows works.
@Suite(.timeLimit(.minutes(10)))
struct ArticleTests {
    @Test func aJobCommitsWithTheRowsOfAnApplication() async throws {
        let blocks = try Page.article("FromOneToMany").blocks.filter { $0.language == "sql" }.map(\.text)
        let statements = try #require(blocks.first { $0.contains("INSERT INTO cameo.job") })
        let server = try await PostgreSQLServer.shared()
        let store = try PostgreSQLStore(DatabaseURL(server.url(ofSchema: "cameo")))
        let answer = try await server.sql(
            "CREATE TABLE users(id integer, picture text); INSERT INTO users VALUES (7, NULL);\n\(statements)",
            schema: "public"
        )
        #expect(answer.contains("|"), "no row of job_status: \(answer)")
        let changed = try await server.sql("SELECT picture FROM users WHERE id = 7", schema: "public")
        try await store.register(
            WorkerDescription(id: "w1", host: "host", pid: 1, version: "test", concurrency: 4)
        )
        let jobs = try await store.claim(limit: 2, for: "w1")
        #expect(jobs.count == 1)
        #expect(try ThumbnailRequest(parsing: jobs[0].request.utf8).source == changed)
        await store.finish()
    }
}
