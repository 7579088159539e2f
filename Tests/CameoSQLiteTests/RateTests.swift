import CameoStore
import Testing

/// The text of a rate limit.
@Suite(.timeLimit(.minutes(10)))
struct RateTests {
    @Test(arguments: [
        ("10/s", 10, 1_000), ("300/m", 300, 60_000), ("2/h", 2, 3_600_000), ("1/d", 1, 86_400_000),
        ("5/30s", 5, 30_000),
        ("7/250ms", 7, 250),
    ])
    func aRateIsReadAndWritten(text: String, count: Int, period: Int64) {
        let rate = StartRate(text)
        #expect(rate == StartRate(count: count, period: period))
        #expect(rate?.description == text)
    }

    @Test(arguments: [
        "+10/s",
        "", "10", "/s", "10/", "0/s", "-1/s", "1000001/s", "10/0s", "10/2d", "10/x", "10/s/s", "1.5/s", "10/ s",
        "10 /s",
        "10/99999999999999999999s", "10/9223372036854775807ms",
    ])
    func whatIsNoRateIsRefused(text: String) {
        #expect(StartRate(text) == nil)
    }
}
