import CameoModel
import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What a producer's transaction does that stays open for long.
@Suite(.timeLimit(.minutes(10)))
struct OpenTransactionTests {
    /// Its number is older than the fetch, but nobody could know of the job before its commit.
    @Test func aJobSharesNoFetchThatBeganBeforeItsCommit() async throws {
        let fixture = try await StoreFixture()
        let producer = try Connection(fixture.store.url)
        try producer.run("BEGIN")
        let request = #"{"source":"file:///late.jpg","renditions":[{"width":64}]}"#
        try producer.run("INSERT INTO \(fixture.store.url.schema).job(request) VALUES ($1)", [request])
        try await fixture.enqueue()
        let first = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        try producer.run("COMMIT")
        let late = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        #expect(late.claim.jobID < first.claim.jobID)
        #expect(late.begun.after >= first.begun.sourceSeen)
    }
}
