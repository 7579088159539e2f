import CameoModel
import CameoReport
import CameoStore
import Foundation
import TestSupport
import Testing

/// Jobs as a table and as CSV.
@Suite(.timeLimit(.minutes(10)))
struct JobListTests {
    private let failure = JobFailure(.sourceNotFound, at: .fetch, "HTTP 404")

    private func lines(_ jobs: [Job], columns: Int? = nil) -> [String] {
        JobList(jobs).lines(at: Date(timeIntervalSince1970: 180), columns: columns) { text, _ in masked(text) }
    }

    @Test func aJobHasALineBelowTheHeading() throws {
        let made = Job.example(thumbnails: [try .example(), try .example()])
        let failed = Job.example(12_345, state: .discarded, source: nil, failure: failure)
        #expect(
            lines([made, failed]) == [
                "  JOB  STATE      TRIES    AGE     SIZE  REASON                      SOURCE",
                "    7  completed    1/5  3 min  2.4 KiB                              /pictures/a.jpg",
                "12345  discarded    1/5  3 min           HTTP 404 (source.notFound)  (no source)",
            ]
        )
        #expect(lines([made])[0] == "JOB  STATE      TRIES    AGE     SIZE  SOURCE", "no job has a reason")
        #expect(lines([]) == [])
    }

    /// On a terminal of the usual width it says why, whatever the source is called.
    @Test(
        arguments: [
            (
                "https://img.example/2030/01/holiday/beach-at-noon.jpg", "$ was not found: HTTP 404",
                "was not found: HTTP 404"
            ),
            (
                "https://u:secret@img.example/holiday/beach-at-noon.jpg", "$: the server answered 503",
                "the server answered"
            ),
            (
                "file:///srv/pictures/2030/caf%C3%A9/beach-at-noon.jpg", "$ is not a picture of a known",
                "is not a picture"
            ),
            (
                "https://img.example/2030/01/holiday/beach-at-noon.jpg", "https://img.example/frame.png is gone",
                "https://im"
            ),
            ("https://img.example/a", "https://img.example/ab was not found", "https://img.example/ab"),
        ]
    )
    func aReasonBeginsWithoutTheSource(source: String, message: String, reason: String) {
        let text = message.replacing("$", with: SourceName.of(source))
        let job = Job.example(
            12_345,
            state: .discarded,
            source: source,
            failure: JobFailure(.sourceHTTPStatus, at: .fetch, text),
            thumbnails: []
        )
        let line = lines([job], columns: 80)[1]
        #expect(line.contains("  \(reason)") && line.columns <= 80, "\(line)")
        #expect(line.contains("http") || line.contains("/srv"), "\(line)")
    }

    /// A source is shown without credentials, and decoded.
    @Test func sourcesAreShownByTheirNames() {
        #expect(
            lines([.example(source: "https://u:secret@example.com/caf%C3%A9.jpg")])[1].hasSuffix(
                " https://example.com/café.jpg"
            )
        )
        let inline = "data:image/png;base64," + String(repeating: "A", count: 500)
        #expect(lines([.example(source: inline)])[1].hasSuffix("AAAA…"))
    }

    /// Paths differ at their ends.
    @Test func pathsAreCutInTheMiddle() {
        let folder = "file:///srv/pictures/" + String(repeating: "a-long-name/", count: 8)
        let rows = lines(["1.jpg", "2.jpg"].map { .example(source: folder + $0, failure: failure) }, columns: 80)
        #expect(
            rows[1].contains("/srv/") && rows[1].hasSuffix("g-name/1.jpg") && rows[2].hasSuffix("g-name/2.jpg")
        )
        #expect(rows.allSatisfy { $0.columns <= 80 })
    }

    @Test func textFromOutsideIsEscaped() {
        let job = Job.example(source: hostile, failure: JobFailure(.sourceInvalid, at: .fetch, hostile))
        let text = lines([job]).joined()
        #expect(!text.contains("\u{1B}") && text.contains("  MASKED (source.invalid)  "))
    }

    @Test(arguments: [20, 60, 79, 80, 81, 200])
    func linesFit(columns: Int) {
        let long = JobFailure(.sourceInvalid, at: .fetch, String(repeating: "理由 ", count: 40))
        let jobs = [
            Job.example(
                state: .discarded,
                source: "https://example.com/" + String(repeating: "長", count: 90),
                failure: long
            ),
            Job.example(source: "https://example.com/\u{1F9C0}e\u{301}.jpg"),
        ]
        let lines = lines(jobs, columns: columns)
        for line in lines { #expect(line.columns <= columns, "\(line)") }
        guard columns >= 79 else { return }
        #expect(lines[1].contains("理由 理由") && lines[1].contains("http"), "\(lines)")
        #expect(lines.allSatisfy { $0.columns >= columns - 3 || !$0.contains("…") }, "the width is used: \(lines)")
    }

    /// Python's reader is the judge.
    @Test func csvIsReadAsItWasWritten() async throws {
        let message = "a, \"quoted\"\r\nmessage\n=1+1"
        let job = Job.example(
            state: .discarded,
            source: "https://example.com/caf%C3%A9,\"x\".jpg",
            text: "q",
            failure: JobFailure(.sourceInvalid, at: .fetch, message),
            batch: hostile,
            thumbnails: [try .example()]
        )
        let script =
            "import csv, json, sys; print(json.dumps(list(csv.reader(open(0, newline='', encoding='utf-8'), strict=True))))"
        let csv = JobList([job, .example(source: nil)]).csv()
        let result = try await run("/usr/bin/python3", ["-c", script], input: Data(csv.utf8))
        let records = try JSONDecoder().decode([[String]].self, from: result.standardOutput)
        #expect(
            records == [
                [
                    "id", "state", "queue", "batch", "attempt", "maxAttempts", "createdAt", "finalizedAt", "thumbnails",
                    "bytes", "code", "message", "source",
                ],
                [
                    "7", "discarded", "q", hostile, "1", "5", "1970-01-01T00:00:00.000Z", "1970-01-01T00:02:00.000Z",
                    "1",
                    "1234", "source.invalid", message, "https://example.com/caf%C3%A9,\"x\".jpg",
                ],
                [
                    "7", "completed", "default", "", "1", "5", "1970-01-01T00:00:00.000Z", "1970-01-01T00:02:00.000Z",
                    "0",
                    "0", "", "", "",
                ],
            ]
        )
        #expect(csv.hasSuffix("\r\n") && !JobList([job]).csv(escape: masked).contains("\u{1B}"))
    }
}
