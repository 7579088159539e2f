import CameoModel
import CameoReport
import Foundation
import Testing

/// A job on a terminal.
@Suite(.timeLimit(.minutes(10)))
struct JobTextTests {
    private let failure = JobFailure(.sourceNotFound, at: .fetch, "HTTP 404")

    private func attempt(_ number: Int, _ failure: JobFailure?) -> JobAttempt {
        var attempt = JobAttempt(
            number: number,
            worker: "w1",
            startedAt: Date(timeIntervalSince1970: 60),
            outcome: failure == nil ? .running : .discarded
        )
        guard let failure else {
            attempt.transfer = JobAttempt.Transfer(receivedBytes: 4_194_304, totalBytes: 73_400_320)
            return attempt
        }
        (attempt.finishedAt, attempt.failure) = (Date(timeIntervalSince1970: 60.5), failure)
        (attempt.throttledMilliseconds, attempt.fetchMilliseconds) = (1, 20)
        (attempt.queueMilliseconds, attempt.renderMilliseconds, attempt.cpuMilliseconds) = (7, 300, 250)
        return attempt
    }

    @Test func everythingThatIsKnownOfAJobIsShown() throws {
        let job = Job.example(
            state: .discarded,
            attempt: 2,
            crashCount: 2,
            failure: failure,
            batch: "b",
            thumbnails: [try .example(frames: 3, isTruncated: true), try .example("128x")],
            attempts: [attempt(1, failure), attempt(2, nil)]
        )
        let uri = "cameo://thumb/0123456789abcdef0123456789abcdef"
        #expect(
            JobText.lines(job, escape: masked).joined(separator: "\n") == """
                job 7: discarded
                  source      file:///pictures/a.jpg
                  queue       default, priority 3, batch b
                  attempts    2 of 5, 2 crashes
                  created     1970-01-01T00:00:00.000Z
                  due         1970-01-01T00:01:00.000Z
                  ended       1970-01-01T00:02:00.000Z
                  worker      default
                  failure     source.notFound (fetch): HTTP 404
                  picture     640x480 GIF, alpha, 3 frames, truncated
                  picture     640x480 GIF, alpha, 3 frames
                  thumbnail   64x  \(uri)  64x48 webp, alpha, 3 frames, 1.2 KiB, #a1b2c3
                  thumbnail   128x  \(uri)  64x48 webp, alpha, 1.2 KiB, #a1b2c3
                  try 1       1970-01-01T00:01:00.000Z  discarded after 500 ms  throttled 1 ms, fetch 20 ms, queue 7 ms, render 300 ms, \
                cpu 250 ms  \
                source.notFound: HTTP 404
                  try 2       1970-01-01T00:01:00.000Z  running  received 4.0 MiB of 70.0 MiB
                """
        )
    }

    @Test func aThumbnailThatIsNotMadeYetHasItsURIOnly() throws {
        let id = try #require(ThumbnailID("0123456789abcdef0123456789abcdef"))
        let job = Job.example(
            state: .available,
            thumbnails: [RequestedThumbnail(name: "64x", id: id, thumbnail: nil)]
        )
        let lines = JobText.lines(job, escape: masked)
        #expect(lines.last == "  thumbnail   64x  cameo://thumb/\(id)")
        #expect(!lines.contains { $0.hasPrefix("  picture") || $0.hasPrefix("  ended") })
    }

    @Test func textFromOutsideIsEscaped() throws {
        let failure = JobFailure(.sourceInvalid, at: .fetch, hostile)
        let job = Job.example(
            state: .discarded,
            source: hostile,
            text: hostile,
            failure: failure,
            batch: hostile,
            thumbnails: [try .example(hostile)],
            attempts: [attempt(1, failure)]
        )
        let text = JobText.lines(job, escape: masked).joined(separator: "\n")
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("  queue       MASKED, priority 3, batch MASKED\n"))
        #expect(text.contains("  thumbnail   MASKED  cameo://"))
        #expect(text.contains("  source.invalid: MASKED"))
    }
}

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
