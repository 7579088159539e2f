import CacheConformance
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoFetch
@testable import CameoWorker

/// Settlements in a real store that refuses as often as a test wants.
@Suite(.timeLimit(.minutes(10)))
struct SettlerTests {
    private static let full = StoreError.full(path: "/store")
    private static let denied = StoreError.denied(location: "s3://bucket", reason: "Object Lock")
    private static let slow = JobFailure(.sourceTimeout, at: .fetch, "slow")

    private static func refusals(_ count: Int) -> [StoreError] { Array(repeating: full, count: count) }

    // MARK: - What is recorded

    @Test func aResultCompletesItsJob() async throws {
        let bench = try await SettlementBench()
        #expect(await bench.settle(bench.product) == "completed 1")
        let job = try await bench.stored
        #expect(job.state == .completed && job.thumbnails[0].blob != nil)
        #expect(bench.store.writes == ["complete"])
        #expect(bench.time.pauses.isEmpty)
    }

    @Test func keptThumbnailsCompleteTheirJobToo() async throws {
        let bench = try await SettlementBench()
        _ = await bench.settle(bench.product)
        let again = try await SettlementBench(in: bench.bench, request: { $0.refresh = .always })
        let ids = try again.job.parsedRequest().thumbnailIDs()
        #expect(await again.settle(.success(.kept(ids, nil))) == "unchanged 1")
        #expect(try await again.stored.state == .completed)
    }

    @Test func aFailedAttemptIsRepeatedAfterItsBackOff() async throws {
        let bench = try await SettlementBench()
        #expect(await bench.settle(.failure(Self.slow)) == "retried source.timeout after 1.5 seconds")
        let job = try await bench.stored
        #expect((job.state, job.attempt, job.failure) == (.retryable, 1, Self.slow))
        #expect(job.availableAt == bench.bench.clock.now() + 1.5)
    }

    @Test func theRequestsRetrySettingsWin() async throws {
        let bench = try await SettlementBench()
        bench.progress.retry = RetryOverride(base: 10, jitter: 0)
        #expect(await bench.settle(.failure(Self.slow)) == "retried source.timeout after 10.0 seconds")
    }

    @Test func theLastAttemptDiscardsItsJob() async throws {
        let bench = try await SettlementBench(request: { $0.maxAttempts = 1 })
        #expect(await bench.settle(.failure(Self.slow)) == "discarded source.timeout")
        #expect(try await bench.stored.state == .discarded)
    }

    @Test func aFinalFailureDiscardsItsJobAtOnce() async throws {
        let bench = try await SettlementBench()
        let failure = JobFailure(.sourceNotFound, at: .fetch, "gone")
        #expect(await bench.settle(.failure(failure)) == "discarded source.notFound")
        #expect(bench.store.writes == ["discard"])
    }

    @Test func aReleasedAttemptDoesNotCount() async throws {
        let bench = try await SettlementBench()
        #expect(await bench.settle(.failure(CancellationError()), stoppedFor: .shutdown) == "released")
        let job = try await bench.stored
        #expect((job.state, job.attempt) == (.available, 0))
        #expect(job.attempts?.map(\.outcome) == [.released])
    }

    @Test func aPostponedJobIsAsIfItHadNeverBeenClaimed() async throws {
        let bench = try await SettlementBench()
        let busy = HostBusy(host: "example.com", delay: .seconds(3))
        #expect(await bench.settle(.failure(busy)) == "postponed for 3.0 seconds")
        let job = try await bench.stored
        #expect((job.state, job.attempt, job.attempts) == (.retryable, 0, []))
        #expect(job.availableAt == bench.bench.clock.now() + 3)
    }

    @Test func aJobWhoseClaimIsLostIsLeftAlone() async throws {
        let bench = try await SettlementBench()
        #expect(await bench.settle(.failure(CancellationError()), stoppedFor: .claimLost) == "lease lost")
        #expect(bench.store.writes.isEmpty)
        #expect(try await bench.stored.state == .running)
    }

    @Test func aCancelledJobStaysCancelledWhateverItsResult() async throws {
        let bench = try await SettlementBench()
        _ = try await bench.bench.store.cancel(bench.job.claim.jobID)
        #expect(await bench.settle(bench.product) == "lease lost")
        let job = try await bench.stored
        #expect(job.state == .cancelled && job.thumbnails[0].blob == nil)
        #expect(bench.time.pauses.isEmpty)
    }

    @Test func aRetryYieldsToAWaitingJobForTheSameThumbnails() async throws {
        let bench = try await SettlementBench()
        let duplicate = try await bench.bench.store.enqueue([CacheBench.request])[0].jobID
        #expect(await bench.settle(.failure(Self.slow)) == "superseded by \(duplicate)")
        #expect(try await bench.stored.state == .cancelled)
    }

    // MARK: - A store that refuses

    @Test func aServiceRepeatsItsWriteUntilTheStoreTakesIt() async throws {
        let bench = try await SettlementBench(refusals: Self.refusals(11))
        #expect(await bench.settle(bench.product) == "completed 1")
        #expect(bench.store.writes == Array(repeating: "complete", count: 12))
        #expect(bench.time.pauses.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(try await bench.stored.state == .completed)
        // The first refusal and the tenth.
        #expect(bench.bench.log.lines.count { $0.contains("waits for the store") } == 2)
    }

    /// The back-off counts from the failure, however long the store refused to record it.
    @Test func aFailureIsTheSameInEveryTry() async throws {
        let bench = try await SettlementBench(refusals: Self.refusals(3))
        bench.time.onPause { _ in bench.bench.clock.advance(1) }
        let failed = bench.bench.clock.now()
        #expect(await bench.settle(.failure(Self.slow)) == "retried source.timeout after 1.5 seconds")
        #expect(try await bench.stored.availableAt == failed + 1.5)
        #expect(bench.store.writes == ["retry", "retry", "retry", "retry"])
    }

    @Test func aRefusedResultFailsItsJob() async throws {
        let bench = try await SettlementBench(refusals: [.refused(reason: "a rule")])
        #expect(await bench.settle(bench.product) == "discarded store.failed")
        #expect(bench.store.writes == ["complete", "discard"])
        #expect(try await bench.stored.failure?.message == StoreError.refused(reason: "a rule").description)
    }

    @Test func aMissingThumbnailThatWasToBeKeptGivesTheJobBack() async throws {
        let bench = try await SettlementBench()
        let ids = try bench.job.parsedRequest().thumbnailIDs()
        #expect(await bench.settle(.success(.kept(ids, nil))) == "released")
        #expect(bench.store.writes == ["complete", "release"])
        #expect(try await bench.stored.attempt == 0)
    }

    @Test func aServiceThatIsStoppedWhileItWaitsGivesTheJobBack() async throws {
        let bench = try await SettlementBench(refusals: Self.refusals(16))
        // By then it has waited for 46 s, and its patience counts from the stop.
        bench.time.onPause { if $0 == 14 { bench.phase.stop(grace: .seconds(25)) } }
        #expect(await bench.settle(bench.product) == "released")
        // The last refusal is the first of the release, whose pauses begin anew.
        #expect(bench.store.writes == Array(repeating: "complete", count: 15) + ["release", "release"])
        #expect(bench.time.pauses.last == .milliseconds(100))
        #expect(try await bench.stored.attempt == 0)
    }

    @Test func aDrainFailsTheJobAfterThreeTries() async throws {
        let bench = try await SettlementBench(refusals: Self.refusals(3), configure: { $0.drains = true })
        let outcome = await bench.settle(bench.product)
        #expect(outcome == "retried store.full after 1.5 seconds")
        #expect(bench.store.writes == ["complete", "complete", "complete", "retry"])
    }

    @Test func aResultThatIsRefusedForGoodGivesItsPlaceToOthers() async throws {
        let bench = try await SettlementBench(refusals: Array(repeating: Self.denied, count: 3))
        #expect(await bench.settle(bench.product) == "retried store.refused after 30.0 seconds")
        #expect(bench.store.writes == ["complete", "complete", "complete", "retry"])
        let job = try await bench.stored
        #expect((job.state, job.attempt, job.attempts?.count) == (.retryable, 0, 1))
        #expect(job.attempts?.first?.failure == JobFailure(.storeRefused, at: .store, Self.denied.description))
        #expect(job.availableAt == bench.bench.clock.now() + 30)
        // While it rests, health knows; the next refusal comes before that is forgotten.
        bench.time.advance(.seconds(30))
        #expect(bench.phase.trouble(at: .now)?.reason == Self.denied.description)
        bench.time.advance(.seconds(30))
        #expect(bench.phase.trouble(at: .now) == nil)
    }

    @Test func aFailureThatIsARefusalForGoodIsTroubleToo() async throws {
        let bench = try await SettlementBench()
        #expect(await bench.settle(.failure(Self.denied)) == "retried store.refused after 30.0 seconds")
        #expect(bench.store.writes == ["retry"])
        bench.time.advance(.seconds(30))
        #expect(bench.phase.trouble(at: .now)?.reason == Self.denied.description)
    }

    @Test func aDrainLeavesWhatIsRefusedForGood() async throws {
        let bench = try await SettlementBench(
            refusals: Array(repeating: Self.denied, count: 3),
            configure: { $0.drains = true }
        )
        #expect(await bench.settle(bench.product) == "unrecorded: \(Self.denied)")
        #expect(bench.store.writes == ["complete", "complete", "complete"])
        #expect(try await bench.stored.state == .running)
        #expect(bench.phase.refusal != nil)
    }

    /// A bucket may be asked for a minute before it is given up.
    @Test func aWriteThatIsNotAnsweredIsTrouble() async throws {
        let bench = try await SettlementBench()
        let seen = Mutex<[String?]>([])
        bench.store.onWrite {
            seen.withLock { $0.append(bench.phase.trouble(at: .now)?.reason) }
            bench.time.advance(.seconds(3))
            seen.withLock { $0.append(bench.phase.trouble(at: .now)?.reason) }
        }
        #expect(await bench.settle(bench.product) == "completed 1")
        let troubles = seen.withLock { $0 }
        #expect(troubles == [nil, "it has not answered"])
        #expect(bench.phase.trouble(at: .now) == nil)
    }

    @Test func anEndingWorkerGivesUpWhenItsPatienceIsOver() async throws {
        let bench = try await SettlementBench(refusals: Self.refusals(100))
        bench.phase.stop(grace: nil)
        let outcome = await bench.settle(.failure(CancellationError()), stoppedFor: .shutdown)
        #expect(outcome == "unrecorded: \(Self.full)")
        // 6.3 s in six pauses, then 5 s each: more than 30 s after the eleventh.
        #expect(bench.time.pauses.count == 11)
        #expect(try await bench.stored.state == .running)
    }

    @Test func aServiceWaitsBeforeItGivesAJobBackToAStoreInTrouble() async throws {
        let bench = try await SettlementBench()
        #expect(await bench.settle(.failure(Self.full)) == "released")
        #expect(bench.time.pauses == [.seconds(1)])
    }
}
