import CameoModel
import CameoSQLite
import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoWorker

/// Claims of a worker that does not know them.
@Suite(.timeLimit(.minutes(10)))
struct StrayClaimsTests {
    private let start = ContinuousClock.now
    private let held = Claim(jobID: 1, token: "held")
    private let stray = Claim(jobID: 2, token: "stray")

    @Test func aClaimThatStaysUnknownIsGivenBack() {
        var strays = StrayClaims(patience: .seconds(15))
        #expect(strays.note([held, stray], known: ["held"], at: start) == [])
        #expect(strays.note([held, stray], known: ["held"], at: start + .seconds(14)) == [])
        #expect(strays.note([held, stray], known: ["held"], at: start + .seconds(15)) == [stray])
        #expect(strays.note([held], known: ["held"], at: start + .seconds(16)) == [])
    }

    /// Claimed just before the store was asked, and known soon after.
    @Test func aNewClaimIsNone() {
        var strays = StrayClaims(patience: .seconds(15))
        #expect(strays.note([stray], known: [], at: start) == [])
        #expect(strays.note([stray], known: ["stray"], at: start + .seconds(1)) == [])
        #expect(strays.note([stray], known: [], at: start + .seconds(20)) == [])
    }

    @Test func aLivingWorkerGivesBackAJobThatItDoesNotRun() async throws {
        let bench = try CacheBench()
        let request = ThumbnailRequest(source: "initials:JD", renditions: [Rendition(width: 64)])
        let id = try await bench.store.enqueue([request])[0].jobID
        let claims = try await bench.store.claim(limit: 1, for: "w1")
        #expect(claims.map(\.claim.jobID) == [id])
        var strays = StrayClaims(patience: .zero)
        let sweep = try await bench.store.sweep(for: "w1")
        let lost = strays.note(sweep.claims, known: [], at: start)
        try #require(lost == claims.map(\.claim))
        _ = try await bench.store.settle(lost[0], as: .release, timings: AttemptTimings())
        let job = try await bench.store.job(id)
        #expect((job.state, job.attempt) == (.available, 0))
    }
}
