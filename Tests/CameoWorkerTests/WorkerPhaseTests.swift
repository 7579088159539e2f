import CameoModel
import CameoStore
import Foundation
import Testing

@testable import CameoWorker

/// The phases of a worker between its start and its end, with a clock that the test moves.
@Suite(.timeLimit(.minutes(10)))
struct WorkerPhaseTests {
    private let time = FakeTime()
    private let phase: WorkerPhase
    private let newer = StoreError.newerSchema(path: "/store", found: 9, supported: 8)

    init() {
        phase = WorkerPhase(time: time.worker)
    }

    @Test func aWorkerThatIsNotStoppedGoesOn() {
        time.advance(.seconds(1_000_000))
        #expect(!phase.isStopping && !phase.mustGiveBack && !phase.hasDrained && phase.lostStore == nil)
        #expect(phase.retirement == nil && phase.unrecorded == nil)
    }

    @Test func timeWithoutWorkIsAStandstillIfItIsLong() {
        let begun = time.now
        phase.look()
        time.advance(.seconds(60))
        #expect(!phase.stoodStill(since: begun), "it worked")
        time.freeze(.seconds(1))
        #expect(!phase.stoodStill(since: begun), "it may have waited for its turn")
        time.freeze(.seconds(16))
        #expect(phase.stoodStill(since: begun))
        time.advance(.seconds(1))
        #expect(phase.stoodStill(since: begun))
        #expect(!phase.stoodStill(since: time.now), "that was before")
    }

    @Test func whatTheStoreRefusesForLongIsTrouble() {
        let (now, one, other) = (Date.now, Claim(jobID: 1, token: "one"), Claim(jobID: 2, token: "other"))
        _ = phase.storeRefused("full", "cannot claim")
        time.advance(.seconds(2))
        #expect(phase.trouble(at: now) == nil, "it may be over at once")
        time.advance(.seconds(2))
        #expect(phase.trouble(at: now) == .init(reason: "full", since: now - 4))
        phase.refusedEnd(of: one, "unreachable")
        phase.storeAnswered()
        #expect(phase.trouble(at: now) == nil)
        time.advance(.seconds(3))
        phase.refusedEnd(of: other, "denied")
        phase.refusedEnd(of: one, "still unreachable")
        #expect(phase.trouble(at: now) == .init(reason: "still unreachable", since: now - 3))
        phase.refusedEnd(of: one, nil)
        phase.refusedEnd(of: other, nil)
        #expect(phase.trouble(at: now) == nil)
    }

    /// A job that was given back because of a refusal for good rests for half a minute before the store is asked again.
    @Test func refusalsForGoodAreOneTroubleUntilThereIsNoneForAMinute() {
        let now = Date.now
        for _ in 0..<3 {
            phase.refusedForGood("denied")
            time.advance(.seconds(30))
        }
        #expect(phase.trouble(at: now) == .init(reason: "denied", since: now - 90))
        time.advance(.seconds(30))
        #expect(phase.trouble(at: now) == nil)
        phase.refusedForGood("denied")
        time.advance(.seconds(3))
        #expect(phase.trouble(at: now) == .init(reason: "denied", since: now - 3))
    }

    /// It holds up no job, and gives way to what does.
    @Test func aFailedRemovalIsTroubleForItsTime() {
        let now = Date.now
        phase.removalFailed("unreachable", for: .seconds(10), isPutOff: false)
        phase.removalSucceeded()
        #expect(phase.trouble(at: now) == nil)
        phase.removalFailed("not this one", for: .seconds(10), isPutOff: true)
        phase.removalSucceeded()
        #expect(phase.trouble(at: now) == .init(reason: "not this one", since: now, blocksJobs: false))
        _ = phase.storeRefused("full", "cannot claim")
        time.advance(.seconds(9))
        phase.removalFailed("nor that one", for: .seconds(10), isPutOff: true)
        #expect(phase.trouble(at: now) == .init(reason: "full", since: now - 9))
        phase.storeAnswered()
        #expect(phase.trouble(at: now) == .init(reason: "nor that one", since: now - 9, blocksJobs: false))
        time.advance(.seconds(3_610))
        #expect(phase.trouble(at: now) == nil)
    }

    @Test func troubleIsNewsOnceForEachReason() {
        let troubles = ["full", "full", "denied", nil, "denied"].map { reason in
            reason.map { StatusReport.Worker.Trouble(reason: $0, since: .now) }
        }
        #expect(troubles.map { phase.isNews($0) } == [true, false, true, true, true])
    }

    /// The graces of several stops in seconds, negative for none; whether each stop changed something; and the seconds after
    /// which running jobs are given back, nil for never.
    @Test(
        arguments: [
            ([25], [true], 25),
            ([25, 25], [true, false], 25),
            ([25, 10], [true, true], 10),
            ([10, 25], [true, false], 10),
            ([-1], [true], nil),
            ([-1, -1], [true, false], nil),
            ([-1, 25], [true, true], 25),
            ([25, -1], [true, false], 25),
            ([25, 0], [true, true], 0),
        ] as [([Int], [Bool], Int?)]
    )
    func theEarliestDeadlineWins(graces: [Int], changes: [Bool], deadline: Int?) {
        #expect(graces.map { phase.stop(grace: $0 < 0 ? nil : .seconds($0)) } == changes)
        #expect(phase.isStopping)
        guard let deadline else {
            time.advance(.seconds(1_000_000))
            #expect(!phase.mustGiveBack)
            return
        }
        time.advance(.seconds(deadline) - .milliseconds(1))
        #expect(!phase.mustGiveBack)
        time.advance(.milliseconds(1))
        #expect(phase.mustGiveBack)
    }

    @Test func aDeadlineCountsFromItsOwnCall() {
        phase.stop(grace: .seconds(25))
        time.advance(.seconds(20))
        #expect(!phase.stop(grace: .seconds(10)))
        #expect(phase.stop(grace: .seconds(1)))
        time.advance(.seconds(1))
        #expect(phase.mustGiveBack)
    }

    @Test func aWorkerRetiresOnce() {
        #expect(phase.retire(newer, grace: .seconds(5)))
        #expect(!phase.retire(.failed("another reason"), grace: .zero))
        #expect(phase.isStopping && phase.retirement == newer && !phase.mustGiveBack)
        time.advance(.seconds(5))
        #expect(phase.mustGiveBack)
    }

    /// A worker that was stopped ends without an error.
    @Test func aWorkerThatIsEndingDoesNotRetire() {
        phase.stop(grace: .seconds(25))
        #expect(!phase.retire(newer, grace: .zero))
        #expect(phase.retirement == nil && !phase.mustGiveBack)
    }

    @Test func aRetiredWorkerCanBeEndedSooner() {
        #expect(phase.retire(newer, grace: .seconds(25)))
        #expect(phase.stop(grace: .zero))
        #expect(phase.mustGiveBack && phase.retirement == newer)
    }

    @Test func refusalsCountFromTheFirstAndAreNewsWhenTheirReasonIsNew() {
        var refusals: [(Duration, Bool)] = []
        for (reason, message) in [
            ("full", "sweep"), ("full", "sweep"), ("full", "claim"), ("busy", "claim"), ("full", "claim"),
        ] {
            refusals.append(phase.storeRefused(reason, message))
            time.advance(.seconds(1))
        }
        #expect(refusals.map(\.0) == (0..<5).map { .seconds($0) })
        #expect(refusals.map(\.1) == [true, false, true, true, false])
    }

    /// On a full disk the sweeps fail, and the claims between them find nothing to write.
    @Test func whatIsRefusedAgainAndAgainIsNewsOnceAMinute() {
        var news = 0
        for _ in 0..<480 {
            if phase.storeRefused("full", "cannot claim").isNews { news += 1 }
            phase.storeAnswered()
            time.advance(.milliseconds(250))
        }
        #expect(news == 2)
    }

    @Test func anAnswerEndsTheTrouble() {
        _ = phase.storeRefused("full", "cannot claim")
        time.advance(.seconds(9))
        phase.storeAnswered()
        #expect(phase.storeRefused("full", "cannot claim").lasting == .zero)
    }
}
