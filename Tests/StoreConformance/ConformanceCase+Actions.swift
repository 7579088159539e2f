import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// An operator's actions on one job, in every state.
    static let actions: [ConformanceCase] =
        JobState.allCases.map(onlyAWaitingJobIsSnoozed)
        + JobState.allCases.map(onlyAnUnfinishedJobIsCancelled)
        + JobState.allCases.map(anAvailableOrRunningJobIsNotRetried)

    /// Brings a job of an empty store into this state.
    private static func makeJob(_ state: JobState, in fixture: Fixture) async throws {
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
    }

    private static func onlyAWaitingJobIsSnoozed(_ state: JobState) -> ConformanceCase {
        ConformanceCase("only a waiting job is snoozed: \(state)") { fixture in
            try await makeJob(state, in: fixture)
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
    }

    private static func onlyAnUnfinishedJobIsCancelled(_ state: JobState) -> ConformanceCase {
        ConformanceCase("only an unfinished job is cancelled: \(state)") { fixture in
            try await makeJob(state, in: fixture)
            let before = try await fixture.store.job(1)
            fixture.clock.advance(seconds: 1)
            #expect(try await fixture.store.cancel(1) == state)
            let job = try await fixture.store.job(1)
            #expect(job.state == (state.isFinal ? state : .cancelled))
            #expect((job.finalizedAt == before.finalizedAt) == state.isFinal)
            await #expect(throws: StoreError.noSuchJob(7)) { try await fixture.store.cancel(7) }
            await #expect(throws: StoreError.noSuchJob(7)) { try await fixture.store.job(7) }
        }
    }

    private static func anAvailableOrRunningJobIsNotRetried(_ state: JobState) -> ConformanceCase {
        ConformanceCase("an available or running job is not retried: \(state)") { fixture in
            try await makeJob(state, in: fixture)
            let before = try await fixture.store.job(1)
            fixture.clock.advance(seconds: 1)
            #expect(try await fixture.store.retry(1).before == state)
            let job = try await fixture.store.job(1)
            #expect((job.state, job.finalizedAt) == (state == .running ? .running : .available, nil))
            #expect((job.availableAt == before.availableAt) == [.available, .running].contains(state))
        }
    }
}
