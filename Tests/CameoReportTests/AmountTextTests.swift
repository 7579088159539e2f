import CameoReport
import Testing

/// Durations and amounts, on both sides of every change of unit.
@Suite(.timeLimit(.minutes(10)))
struct AmountTextTests {
    @Test(
        arguments: [
            (0, "0 ms"), (0.85, "850 ms"), (1, "1.0 s"), (4.25, "4.2 s"), (99.9, "99.9 s"), (100, "1 min"),
            (7_199, "119 min"), (7_200, "2 h"), (172_799, "47 h"), (172_800, "2 d"),
        ] as [(Double, String)]
    )
    func durations(seconds: Double, text: String) {
        #expect(AmountText.duration(seconds) == text)
    }

    @Test(
        arguments: [
            (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (3_500, "3.4 KiB"), (12 << 20, "12.0 MiB"),
            (3 << 30, "3.0 GiB"), (1 << 40, "1.0 TiB"), (1 << 50, "1024.0 TiB"),
        ]
    )
    func bytes(count: Int, text: String) {
        #expect(AmountText.bytes(count) == text)
    }

    @Test func counts() {
        #expect(AmountText.count(0, "job") == "0 jobs")
        #expect(AmountText.count(1, "job") == "1 job")
        #expect(AmountText.count(2, "job") == "2 jobs")
        #expect(AmountText.count(1, "retry", plural: "retries") == "1 retry")
        #expect(AmountText.count(2, "retry", plural: "retries") == "2 retries")
        #expect(AmountText.rate(3.44) == "3.4")
    }
}
