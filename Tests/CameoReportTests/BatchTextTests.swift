import CameoModel
import CameoReport
import Foundation
import Testing

/// The progress of a batch on a terminal.
@Suite(.timeLimit(.minutes(10)))
struct BatchTextTests {
    private func lines(
        _ jobs: [JobState: Int],
        name: String = "b",
        failures: [BatchReport.Failures] = [],
        rate: Double = 0
    ) -> [String] {
        let report = BatchReport(
            name: name,
            generatedAt: Date(timeIntervalSince1970: 0),
            jobs: jobs,
            failures: failures,
            finishedLastMinute: 30,
            rate: rate
        )
        return BatchText.lines(report, escape: masked)
    }

    @Test func aBatchOnItsWaySaysHowLongTheRestTakes() {
        let failures = [BatchReport.Failures(code: .sourceNotFound, count: 1)]
        #expect(
            lines([.completed: 1, .discarded: 1, .running: 1, .available: 4], failures: failures, rate: 0.5) == [
                "batch b: 2 of 7 jobs have ended (28 %)",
                "  available            4",
                "  running              1",
                "  completed            1",
                "  discarded            1",
                "  source.notFound         1 discarded",
                "last minute: 30 ended, about 10.0 s left",
            ]
        )
    }

    @Test func aBatchThatDoesNotMoveHasNoEstimate() {
        #expect(lines([.completed: 1, .available: 1])[0] == "batch b: 1 of 2 jobs has ended (50 %)")
        #expect(lines([.completed: 1, .running: 1]).last == "last minute: 30 ended")
        // Some ended, and none is taken any more.
        #expect(lines([.completed: 1, .available: 1], rate: 0.5).last == "last minute: 30 ended")
    }

    @Test func aFinishedBatchEndsWithItsCounts() {
        #expect(lines([.completed: 1]) == ["batch b: 1 of 1 job has ended (100 %)", "  completed            1"])
        #expect(lines([:]) == ["batch b: 0 of 0 jobs have ended (0 %)"])
    }

    @Test func theNameIsEscaped() {
        #expect(lines([.completed: 1], name: hostile)[0] == "batch MASKED: 1 of 1 job has ended (100 %)")
    }
}
