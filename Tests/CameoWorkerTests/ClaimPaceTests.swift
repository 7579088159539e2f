import Testing

@testable import CameoWorker

@Suite(.timeLimit(.minutes(10)))
struct ClaimPaceTests {
    @Test func restsGrowWhileClaimsFindNothing() {
        let pace = ClaimPace()
        #expect(pace.rest == .zero)
        let rests = (0..<5).map { _ in
            pace.note(found: false)
            return pace.rest
        }
        #expect(rests == [2, 4, 8, 16, 16].map { .milliseconds($0) })
        pace.note(found: true)
        #expect(pace.rest == .zero)
    }
}
