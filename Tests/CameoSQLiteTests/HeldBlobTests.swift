import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Blobs referenced only by a job, through their digest.
@Suite(.timeLimit(.minutes(10)))
struct HeldBlobTests {
    private static let bytes = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    private static let digest = BlobDigest(of: bytes)
    private static let name = CameoURI.blob(digest)
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private var store: SQLiteStore { fixture.store }

    /// Creates bytes left over from a formerly cached original.
    private func leaveBytes() async throws {
        _ = try await store.keep(StoreFixture.original(Self.bytes), data: Self.bytes, budget: nil)
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
        fixture.clock.advance(seconds: 2 * 3_600)
    }

    /// Creates a request with two renditions, the second with an overlay.
    private func request(change: (inout ThumbnailRequest) -> Void = { _ in }) -> ThumbnailRequest {
        StoreFixture.request("file:///b.jpg") { request in
            request.renditions.append(Rendition(width: 32, height: 32))
            request.renditions[1].look.overlay = Rendition.Overlay(source: Self.name.text)
            change(&request)
        }
    }

    /// The fields of a request, without a source.
    private func fields(_ name: String) -> String {
        #""renditions":[{"width":64},{"width":32,"overlay":{"source":"\#(name)"}}]"#
    }

    private func json(_ name: String) -> String { #"{"source":"file:///b.jpg",\#(fields(name))}"# }

    private func isThere() async throws -> Bool {
        do throws(StoreError) {
            return try await store.data(of: Self.digest) == Self.bytes
        } catch .notFound {
            return false
        }
    }

    /// Collects twice, because a blob that collection has examined is not examined again.
    private func expectHeld() async throws {
        #expect(try await store.prunable(.forever).blobs == 0)
        for _ in 1...2 { #expect(try await fixture.prune(.forever).blobs == 0) }
        #expect(try await isThere())
    }

    @Test func unreferencedBytesAreRemoved() async throws {
        try await leaveBytes()
        #expect(try await fixture.prune(.forever).blobs == 1)
        #expect(try await !isThere())
    }

    @Test(arguments: [JobState.scheduled, .available, .running, .retryable])
    func anOverlayIsHeldByAnUnfinishedJob(state: JobState) async throws {
        try await leaveBytes()
        let later = fixture.clock.storeClock.now().addingTimeInterval(1_000 * StoreFixture.day)
        _ = try await store.enqueue([request { if state == .scheduled { $0.runAt = later } }])
        if state == .running || state == .retryable {
            let claim = try #require(try await store.claim(limit: 1, for: "w1").first).claim
            let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
            if state == .retryable {
                try await store.fail(claim, with: failure, retryAt: later)
            }
        }
        #expect(try await store.job(1).state == state)
        fixture.clock.advance(seconds: 100 * StoreFixture.day)
        try await expectHeld()
    }

    /// This holds however the producer spells the URI.
    @Test(arguments: ["cameo://blob/", #"cameo:\/\/blob\/"#, "CAMEO://Blob/"], ["job", "upload"])
    func anOverlayIsHeldByAProducersJob(prefix: String, table: String) async throws {
        try await leaveBytes()
        let name = "\(prefix)\(Self.digest)"
        let insert =
            table == "job"
            ? "INSERT INTO job(request) VALUES ('\(json(name))')"
            : "INSERT INTO upload(data, request) VALUES (x'01', '{\(fields(name))}')"
        _ = try await fixture.sql(insert)
        try await expectHeld()
    }

    @Test func aSourceIsHeld() async throws {
        try await leaveBytes()
        _ = try await store.enqueue([StoreFixture.request(Self.name.text)])
        try await expectHeld()
    }

    /// Like its source, because an operator may retry the job.
    @Test func aJobThatWasDiscardedFindsItsOverlayWhenItIsRetried() async throws {
        try await leaveBytes()
        _ = try await store.enqueue([request()])
        let claim = try #require(try await store.claim(limit: 1, for: "w1").first).claim
        let failure = JobFailure(.sourceNotFound, at: .fetch, "gone")
        try await store.fail(claim, with: failure, retryAt: nil)
        #expect(try await store.job(1).state == .discarded)
        fixture.clock.advance(seconds: StoreFixture.day)
        try await expectHeld()
        _ = try await store.retry(1)
        try await expectHeld()
    }

    /// Collection dropped the blob from its list while the job held it.
    @Test func theBlobIsRemovedAfterTheRowOfItsJob() async throws {
        try await leaveBytes()
        _ = try await store.enqueue([request()])
        try await expectHeld()
        _ = try await store.cancel(1)
        fixture.clock.advance(seconds: StoreFixture.day)
        var retention = Retention.forever
        retention.cancelled = .seconds(3_600)
        let pruned = try await fixture.prune(retention)
        #expect((pruned.jobs, pruned.blobs) == (1, 1))
        #expect(try await !isThere())
    }

    @Test func aBlobOfTwoJobsIsKeptForTheOther() async throws {
        try await leaveBytes()
        _ = try await store.enqueue([request(), request { $0.source = "file:///c.jpg" }])
        _ = try await store.cancel(1)
        _ = try await fixture.sql("PRAGMA foreign_keys = ON; DELETE FROM job WHERE id = 1")
        try await expectHeld()
    }

    /// A repair removes only damaged bytes that nothing references.
    @Test func damagedBytesThatAJobReferencesStayAFinding() async throws {
        try await leaveBytes()
        _ = try await store.enqueue([request()])
        try Data("rubbish".utf8).write(to: URL(filePath: store.directory.blobFile(Self.digest)))
        #expect(try await store.repair(in: try await store.freeTurn()) == [])
        let found = try await store.check().first { $0.subject == "blobs" }
        #expect(found?.severity == .error && found?.message.contains(Self.digest.description) == true)
    }
}
