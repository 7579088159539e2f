import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SourceCacheTests {
    @Test func anAnswerWithoutPeersIsNotKept() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: StoreError.self) {
            try await fixture.store.keep(
                StoreFixture.original(StoreFixture.bytes("a"), peers: []),
                data: StoreFixture.bytes("a"),
                budget: nil
            )
        }
        try await fixture.keep("a")
        _ = try await fixture.sql("PRAGMA ignore_check_constraints = 1; UPDATE source SET peers = '[]'")
        #expect(try await fixture.store.check().filter { $0.severity == .error }.map(\.subject) == ["database"])
    }

    @Test func countersAgreeAfterAllOperations() async throws {
        let fixture = try StoreFixture()
        try await fixture.keep("a", seen: 1)
        try await fixture.keep("b", count: 30, uri: "https://example.com/a", seen: 2)
        #expect(try await fixture.store.status().sources.bytes == 30)
        try await fixture.keep("c", isPinned: true)
        try await fixture.keep("c", count: 7, seen: 2)
        try await fixture.keep("d", budget: 20)
        _ = try await fixture.store.forgetSource("https://example.com/d", .originals)
        let status = try await fixture.store.status().sources
        #expect(status == StatusReport.Sources(count: 1, bytes: 7, evicted: 1, evictedBytes: 30))
        #expect(try await fixture.store.check().filter { $0.severity != .ok } == [])
        _ = try await fixture.sql("UPDATE total SET value = 8 WHERE name = 'source_bytes'")
        let finding = try #require(try await fixture.store.check().first { $0.subject == "counters" })
        #expect(finding.severity == .error && finding.message.contains("is 8 and should be 7"))
    }
}
