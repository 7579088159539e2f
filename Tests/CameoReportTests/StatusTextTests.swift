import CameoModel
import CameoReport
import CameoStore
import Foundation
import Testing

/// A status report on a terminal.
@Suite(.timeLimit(.minutes(10)))
struct StatusTextTests {
    private func report(
        jobs: [JobState: Int] = [:],
        queues: [StatusReport.Queue] = [],
        finished: StatusReport.Finished = .init(completed: 0, discarded: 0),
        workers: [StatusReport.Worker] = [],
        blobs: StatusReport.Blobs = .init(count: 0, bytes: 0),
        thumbnails: Int = 0,
        sources: StatusReport.Sources = .init(count: 0, bytes: 0, evicted: 0, evictedBytes: 0)
    ) -> StatusReport {
        StatusReport(
            generatedAt: Date(timeIntervalSince1970: 0),
            schemaVersion: 1,
            jobs: jobs,
            queues: queues,
            finishedLastMinute: finished,
            workers: workers,
            blobs: blobs,
            thumbnails: thumbnails,
            sources: sources
        )
    }

    private func worker(
        _ text: String = "w1",
        isAlive: Bool = true,
        stopping: WorkerStop? = nil
    ) -> StatusReport.Worker {
        StatusReport.Worker(
            id: text,
            host: text,
            pid: 4_321,
            version: "0.1.0",
            startedAt: Date(timeIntervalSince1970: 0),
            isAlive: isAlive,
            concurrency: 8,
            running: 3,
            stopping: stopping
        )
    }

    private func text(_ report: StatusReport) -> String {
        StatusText.lines(report, escape: masked).joined(separator: "\n")
    }

    @Test func anEmptyStoreIsReportedInFull() {
        #expect(
            text(report()) == """
                jobs
                  scheduled            0
                  available            0
                  running              0
                  retryable            0
                  completed            0
                  discarded            0
                  cancelled            0
                queues
                  none yet
                last minute: 0 completed, 0 discarded (0.0/s)
                workers
                  none
                0 thumbnails; 0 blobs, 0 B
                source cache: 0 originals, 0 B
                """
        )
    }

    @Test func countsQueuesAndWorkersHaveALineEach() {
        let queue = StatusReport.Queue(
            name: "urgent",
            jobs: [.available: 12, .running: 3],
            oldestWaitingSeconds: 90,
            paused: true,
            maxRunning: 4,
            rate: "10/s"
        )
        let other = StatusReport.Queue(
            name: "default",
            jobs: [:],
            oldestWaitingSeconds: nil,
            paused: false,
            maxRunning: nil
        )
        let lines = text(
            report(
                jobs: [.available: 12, .completed: 1_234_567_890],
                queues: [queue, other],
                finished: .init(completed: 60, discarded: 30),
                workers: [worker(), worker("w2", isAlive: false), worker("w3", stopping: .drain)],
                blobs: .init(count: 1, bytes: 2_048),
                thumbnails: 1,
                sources: .init(count: 2, bytes: 1_024, evicted: 5, evictedBytes: 9)
            )
        )
        for line in [
            "  available           12",
            "  completed   1234567890",
            "  urgent       12 available, 3 running of at most 4, 0 retryable, 0 scheduled, oldest waits 90.0 s, "
                + "starts at most 10/s, paused",
            "  default      0 available, 0 running, 0 retryable, 0 scheduled",
            "last minute: 60 completed, 30 discarded (1.5/s)",
            "  w1 on w1 (pid 4321, 0.1.0): runs 3 of 8 jobs",
            "  w2 on w2 (pid 4321, 0.1.0): dead",
            "  w3 on w3 (pid 4321, 0.1.0): runs 3 of 8 jobs, was asked to finish and end",
            "1 thumbnail; 1 blob, 2.0 KiB",
            "source cache: 2 originals, 1.0 KiB (5 evicted so far)",
        ] {
            #expect(lines.split(separator: "\n").contains { $0 == line }, "\(line)\nis not in\n\(lines)")
        }
    }

    @Test func aWorkerThatIsToEndAtOnceSaysSo() {
        #expect(WorkerText.line(worker(stopping: .now), escape: masked).hasSuffix(", was asked to end now"))
    }

    @Test func textFromOutsideIsEscaped() {
        let queue = StatusReport.Queue(
            name: hostile,
            jobs: [:],
            oldestWaitingSeconds: nil,
            paused: false,
            maxRunning: nil
        )
        let lines = text(report(queues: [queue], workers: [worker(hostile)]))
        #expect(!lines.contains("\u{1B}"))
        #expect(lines.contains("  MASKED "))
        #expect(lines.contains("  MASKED on MASKED (pid"))
    }

    @Test func aNewStoreIsEmpty() async throws {
        let status = try await ReportBench().store.status()
        #expect(StatusText.lines(status, escape: masked).first { $0.hasPrefix("last minute") } != nil)
        #expect(status.jobs.values.allSatisfy { $0 == 0 } && status.thumbnails == 0)
        let json = String(decoding: try WireFormat.encode(status), as: UTF8.self)
        #expect(json.contains(#""jobs":{"available":0,"cancelled":0,"completed":0,"discarded":0,"retryable":0,"#))
    }
}
