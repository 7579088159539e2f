import CommandSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DurationTests {
    @Test(
        arguments: [
            ("30s", Duration.seconds(30)), ("10m", .seconds(600)), ("2h", .seconds(7_200)), ("7d", .seconds(604_800)),
            ("250ms", .milliseconds(250)), ("1.5h", .seconds(5_400)), ("45", .seconds(45)),
            ("0", .zero), ("0.5", .milliseconds(500)), (".5", .milliseconds(500)), (".5h", .seconds(1_800)),
            ("5.", .seconds(5)), ("1e3", .seconds(1_000)), ("90.0", .seconds(90)),
        ] as [(String, Duration)]
    )
    func readsAmountAndUnit(text: String, duration: Duration) {
        #expect(Duration(parsing: text) == duration)
    }

    @Test(
        arguments: [
            "", "s", ".", ".s", "-1s", "-1", "+1s", "1x", "1 s", "1s2m", "1..2s", "1..2", "1e3s", "٣s", "٣", "½h",
            "nan", "inf", "nans", "0x10", "0X1p-2", "1D", "1w", "1e300", "100000000000d", "36501d",
        ]
    )
    func refusesAllElse(text: String) {
        #expect(Duration(parsing: text) == nil)
    }

    /// The request carries durations as they were typed.
    @Test(arguments: ["1.118", "1.14", "0.1", "90"])
    func aNumberOfSecondsStaysTheNumberThatItWas(text: String) throws {
        let argument = try #require(Duration(argument: text))
        #expect(argument.typedSeconds == Double(text))
    }

    @Test(arguments: ["250ms", "30s", "90s", "10m", "2h", "36h", "1d", "7d", "0s"])
    func writesTheShortestText(text: String) throws {
        let duration = try #require(Duration(parsing: text))
        #expect(duration.argument == text)
    }
}
