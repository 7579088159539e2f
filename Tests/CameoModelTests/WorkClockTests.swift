import CameoModel
import CameoSystem
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
}
