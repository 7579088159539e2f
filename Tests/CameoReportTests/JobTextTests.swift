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
        (attempt.queueMilliseconds, attempt.renderMilliseconds) = (7, 300)
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
                  try 1       1970-01-01T00:01:00.000Z  discarded after 500 ms  throttled 1 ms, fetch 20 ms, queue 7 ms, render 300 ms  \
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
