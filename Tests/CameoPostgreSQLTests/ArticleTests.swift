import CameoModel
import CameoObjectStorage
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
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

    /// The page's commands bring a whole store into another database, which reads the bytes and does not own them.
    @Test func aStoreIsCopiedToStaging() async throws {
        let block = try #require(Page.article("FromOneToMany").blocks.first { $0.text.contains("$ pg_restore") })
        let server = try await PostgreSQLServer()
        let bytes = try TemporaryFolder()
        func open(_ database: String, bytes chosen: String?) throws -> PostgreSQLStore {
            let place = BytesPlace(chosen: chosen) { name throws(StoreError) in
                try SharedFolder(at: name, creating: true)
            }
            let url = server.url(ofSchema: "cameo").replacing("/postgres?", with: "/\(database)?")
            return try PostgreSQLStore(DatabaseURL(url), bytes: place)
        }
        _ = try await server.psql(["-c", "CREATE DATABASE pictures"])
        let store = try open("pictures", bytes: bytes.path)
        let large = Data(repeating: 7, count: 200_000)
        let digest = try await store.store(large, mediaType: nil)
        let small = try await store.store(Data("small".utf8), mediaType: nil)
        let requests = (1...3).map { StoreFixture.request("file:///\($0)") }
        _ = try await store.enqueue(requests)
        try await store.register(WorkerDescription(id: "w1", host: "h", pid: 1, version: "test", concurrency: 4))
        let claimed = try #require(try await store.claim(limit: 1, for: "w1").first)
        try await store.discard([claimed], JobFailure(.sourceNotFound, at: .fetch, "gone"))

        let commands = block.text.split(separator: "\n").map { $0.dropFirst(2) }.joined(separator: "\n")
        let folder = try TemporaryFolder()
        let ran = try await run(
            "/bin/bash",
            ["-ec", "cd '\(folder.path)'; \(commands)"],
            environment: ["PATH": "\(server.programs):/usr/bin:/bin", "PGHOST": server.folder, "PGUSER": "cameo"]
        )
        try #require(ran.exitStatus == 0 && ran.errorText.isEmpty, "\(ran.errorText)")

        let copy = try open("staging", bytes: nil)
        #expect(try await copy.jobs(JobFilter()).map(\.state) == [.available, .available, .discarded])
        #expect(try await copy.data(of: digest) == large)
        #expect(try await copy.data(of: small) == Data("small".utf8))
        #expect(try await copy.check().allSatisfy { $0.severity != .error })
        #expect(try await copy.othersBytes()?.location == bytes.path)
        #expect(try await copy.adoptBytes() != nil)
        #expect(try await copy.othersBytes() == nil)
        #expect(try await store.othersBytes() != nil)
        // Both go on, with numbers of their own.
        #expect(try await copy.enqueue([StoreFixture.request("file:///4")]).map(\.id) == [4])
        #expect(try await copy.claim(limit: 9, for: "w1").map(\.claim.jobID).sorted() == [2, 3, 4])
    }
}
