import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// An operator's actions on one job, in every state.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct OperatorTests {
    /// Creates a store with one job in this state.
    private func fixture(_ state: JobState) async throws -> StoreFixture {
        let fixture = try await StoreFixture()
        let later = fixture.clock.now.addingTimeInterval(600)
        try await fixture.enqueue { if state == .scheduled { $0.runAt = later } }
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        switch state {
        case .available, .scheduled: break
        case .cancelled: _ = try await fixture.store.cancel(1)
        case .running, .completed, .retryable, .discarded:
            let claim = try #require(try await fixture.store.claim(limit: 1, for: "w1").first).claim
            switch state {
            case .completed:
                try await fixture.store.complete(claim)
            case .retryable, .discarded:
                try await fixture.store.fail(claim, with: failure, retryAt: state == .retryable ? later : nil)
            default: break
            }
        }
        #expect(try await fixture.store.job(1).state == state)
        return fixture
    }

    @Test(arguments: JobState.allCases)
    func onlyAWaitingJobIsSnoozed(state: JobState) async throws {
        let fixture = try await fixture(state)
        let before = try await fixture.store.job(1)
        let later = fixture.clock.now.addingTimeInterval(3_600)
        #expect(try await fixture.store.snooze(1, until: later) == state)
        let job = try await fixture.store.job(1)
        if [.scheduled, .available, .retryable].contains(state) {
            #expect((job.state, job.availableAt, job.attempt) == (.scheduled, later, before.attempt))
        } else {
            #expect((job.state, job.availableAt) == (state, before.availableAt))
        }
    }

    @Test(arguments: JobState.allCases)
    func onlyAnUnfinishedJobIsCancelled(state: JobState) async throws {
        let fixture = try await fixture(state)
        let before = try await fixture.store.job(1)
        fixture.clock.advance(seconds: 1)
        #expect(try await fixture.store.cancel(1) == state)
        let job = try await fixture.store.job(1)
        #expect(job.state == (state.isFinal ? state : .cancelled))
        #expect((job.finalizedAt == before.finalizedAt) == state.isFinal)
    }

    @Test(arguments: JobState.allCases)
    func anAvailableOrRunningJobIsNotRetried(state: JobState) async throws {
        let fixture = try await fixture(state)
        let before = try await fixture.store.job(1)
        fixture.clock.advance(seconds: 1)
        #expect(try await fixture.store.retry(1).before == state)
        let job = try await fixture.store.job(1)
        #expect((job.state, job.finalizedAt) == (state == .running ? .running : .available, nil))
        #expect((job.availableAt == before.availableAt) == [.available, .running].contains(state))
    }
}
