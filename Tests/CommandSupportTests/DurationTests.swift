import CommandSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DurationTests {
    @Test(
        arguments: [
            ("30s", Duration.seconds(30)), ("10m", .seconds(600)), ("2h", .seconds(7_200)), ("7d", .seconds(604_800)),
            ("250ms", .milliseconds(250)), ("1.5h", .seconds(5_400)), ("45", .seconds(45)),
            ("0", .zero), ("0.5", .milliseconds(500)),
        ] as [(String, Duration)]
    )
    func readsAmountAndUnit(text: String, duration: Duration) {
        #expect(Duration(parsing: text) == duration)
    }

    @Test(
        arguments: [
            "", "s", "-1s", "+1s", "1x", "1 s", "1s2m", ".5s", "1.s", "1..2s", "1e3", "٣s", "½h", "nan", "inf", "1D",
            "1w",
            "100000000000d", "36501d",
        ]
    )
    func refusesAllElse(text: String) {
        #expect(Duration(parsing: text) == nil)
    }

    @Test(arguments: ["250ms", "30s", "90s", "10m", "2h", "36h", "1d", "7d", "0s"])
    func writesTheShortestText(text: String) throws {
        let duration = try #require(Duration(parsing: text))
        #expect(duration.argument == text)
    }
}
