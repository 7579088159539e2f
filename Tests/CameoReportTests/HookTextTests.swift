import CameoModel
import CameoReport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HookTextTests {
    private func report(isKnown: Bool, waiting: Int) -> HookReport {
        var report = HookReport(
            name: "site",
            isKnown: isKnown,
            queues: ["uploads"],
            counts: (waiting: waiting, running: 1, delivered: 3, failed: 1)
        )
        report.oldestWaitingSeconds = waiting > 0 ? 90 : nil
        report.trouble = waiting > 0 ? "the server answered 503" : nil
        report.failures = [
            HookReport.Failure(
                id: "ab",
                job: 7,
                tries: 1,
                failedAt: Date(timeIntervalSince1970: 0),
                reason: "bad\u{7}"
            )
        ]
        return report
    }

    private func lines(_ report: HookReport) -> [String] {
        HookText.lines(report) { $0.replacing("\u{7}", with: "?") }
    }

    @Test func aHookIsOneLineAndEachFailureAnother() {
        #expect(
            lines(report(isKnown: false, waiting: 2)) == [
                "site         2 waiting, 1 running, 3 delivered, 1 failed, oldest waits 90.0 s, "
                    + "no live worker knows this hook, for the queues uploads, last trouble: the server answered 503",
                "  ab  job 7, given up after 1 try: bad?",
            ]
        )
    }

    @Test func anUnknownHookMattersOnlyWhileSomethingWaitsForIt() {
        let line = "site         0 waiting, 1 running, 3 delivered, 1 failed, for the queues uploads"
        for isKnown in [true, false] { #expect(lines(report(isKnown: isKnown, waiting: 0)).first == line) }
    }
}
