import Testing

@testable import CameoWorker

/// The beat at which writes meet, with a clock that the test moves.
@Suite(.timeLimit(.minutes(10)))
struct CadenceTests {
    @Test func everyWriteWaitsForTheNextBeat() async {
        let time = FakeTime()
        let cadence = Cadence(period: .seconds(1), time: time.worker)
        await cadence.beat()
        time.advance(.milliseconds(1_250))
        await cadence.beat()
        time.advance(.milliseconds(500))
        await cadence.beat()
        #expect(time.pauses == [.seconds(1), .milliseconds(750), .milliseconds(500)])
    }
}
