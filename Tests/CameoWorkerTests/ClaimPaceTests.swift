import Testing

@testable import CameoWorker

@Suite(.timeLimit(.minutes(10)))
struct ClaimPaceTests {
    private let pace = ClaimPace()

    @Test func restsGrowWhileClaimsFindNothing() {
        #expect(pace.rest == .milliseconds(2))
        let rests = (0..<5).map { _ in
            pace.note(found: 0, room: 4)
            return pace.rest
        }
        #expect(rests == [4, 8, 16, 16, 16].map { .milliseconds($0) })
        pace.note(found: 1, room: 4)
        #expect(pace.rest == .milliseconds(2))
    }

    @Test func aFullWorkerRestsLongUntilAClaimFindsLessThanItHasRoomFor() {
        pace.note(found: 4, room: 4)
        #expect(pace.rest == .milliseconds(16))
        pace.note(found: 0, room: 1)
        #expect(pace.rest == .milliseconds(4))
    }
}
