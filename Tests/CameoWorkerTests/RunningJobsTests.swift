import CameoStore
import Testing

@testable import CameoWorker

/// The jobs that a worker holds claims of.
@Suite(.timeLimit(.minutes(10)))
struct RunningJobsTests {
    private let running = RunningJobs()

    private func insert(_ token: String, crashCount: Int = 0) -> JobControl {
        let control = JobControl(.example(token: token, crashCount: crashCount), claimedAt: .now)
        running.insert(control)
        return control
    }

    @Test func jobsAreCountedFromTheirClaimToTheirEnd() {
        #expect(running.count == 0 && running.tokens.isEmpty)
        let first = insert("a")
        _ = insert("b")
        #expect(running.count == 2 && running.tokens == ["a", "b"])
        running.remove(first)
        running.remove(first)
        #expect(running.count == 1 && running.tokens == ["b"])
    }

    @Test func aPoisonJobIsKnownByItsCrashes() {
        let job = insert("a", crashCount: ClaimKind.poisonAfterCrashes - 1)
        #expect(!running.containsPoisonJob)
        let poison = insert("b", crashCount: ClaimKind.poisonAfterCrashes)
        #expect(running.containsPoisonJob)
        running.remove(poison)
        #expect(!running.containsPoisonJob && job.stopReason == nil)
    }

    @Test func allAreStoppedForOneReason() {
        let jobs = [insert("a"), insert("b")]
        let ended = insert("c")
        running.remove(ended)
        running.stopAll(.shutdown)
        #expect(jobs.map(\.stopReason) == [.shutdown, .shutdown])
        #expect(ended.stopReason == nil)
    }

    /// Jobs that were claimed after the tokens were read are missing from the store's answer, and are not lost.
    @Test func onlyHeldClaimsThatAreNoLongerValidAreLost() {
        let (valid, lost, ended) = (insert("valid"), insert("lost"), insert("ended"))
        let held = running.tokens
        running.remove(ended)
        let new = insert("new")
        running.stop(held, notIn: ["valid", "somebody else's"])
        #expect(lost.stopReason == .claimLost)
        #expect([valid, ended, new].allSatisfy { $0.stopReason == nil })
    }
}
