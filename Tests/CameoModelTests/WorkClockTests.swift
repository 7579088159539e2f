import CameoModel
import Testing

/// Lower bounds only: a busy machine may take longer for anything.
@Suite(.timeLimit(.minutes(10)))
struct WorkClockTests {
    @Test func waitingIsNotWork() async throws {
        let clock = WorkClock()
        clock.beginWait()
        clock.beginWait()
        try await Task.sleep(for: .milliseconds(60))
        clock.endWait()
        let before = clock.worked
        try await Task.sleep(for: .milliseconds(60))
        #expect(clock.worked == before, "one of the two waits lasts")
        clock.endWait()
        #expect(clock.waited >= .milliseconds(120))
        try await Task.sleep(for: .milliseconds(20))
        #expect(clock.worked - before >= .milliseconds(20))
    }

    @Test func whatIsSharedLetsAllWaitWhoFollowIt() async throws {
        let (download, clock) = (WorkClock(), WorkClock())
        download.beginWait()
        try await Task.sleep(for: .milliseconds(40))
        clock.follow(download)
        try await Task.sleep(for: .milliseconds(40))
        let waited = clock.waited
        #expect(waited >= .milliseconds(40) && waited <= download.waited - .milliseconds(40))
        clock.follow(nil)
        let after = clock.waited
        try await Task.sleep(for: .milliseconds(20))
        #expect(clock.waited == after, "it is none of its business any more")
    }

    /// The limit's own end, and that of a wait much longer than the limit, in the order in which they come.
    @Test func aLimitRunsOutByWorkAlone() async throws {
        let clock = WorkClock()
        clock.beginWait()
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                try await clock.sleep(untilWorked: .milliseconds(5))
                return "limit"
            }
            group.addTask {
                try await Task.sleep(for: .milliseconds(700))
                clock.endWait()
                return "wait"
            }
            var ends: [String] = []
            for try await end in group { ends.append(end) }
            #expect(ends == ["wait", "limit"])
        }
    }
}
