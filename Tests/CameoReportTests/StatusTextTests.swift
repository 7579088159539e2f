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
        sources: StatusReport.Sources = .init(count: 0, bytes: 0, evicted: 0, evictedBytes: 0),
        stages: [StatusReport.StageTimes] = [],
        failures: [StatusReport.Failures] = [],
        etaSeconds: Double? = nil
    ) -> StatusReport {
        var report = StatusReport(
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
        report.throughput = [1, 5, 15].map {
            .init(
                minutes: $0,
                completed: finished.completed,
                discarded: finished.discarded,
                seconds: Double($0) * 60
            )
        }
        (report.stages, report.failures, report.etaSeconds) = (stages, failures, etaSeconds)
        return report
    }

    private func worker(
        _ text: String = "w1",
        isAlive: Bool = true,
        stopping: WorkerStop? = nil,
        queues: [String]? = nil,
        current: [StatusReport.RunningJob] = []
    ) -> StatusReport.Worker {
        var worker = StatusReport.Worker(
            id: text,
            host: text,
            pid: 4_321,
            version: "0.1.0",
            startedAt: Date(timeIntervalSince1970: 0),
            isAlive: isAlive,
            concurrency: 8,
            running: 3
        )
        (worker.stopping, worker.queues, worker.current) = (stopping, queues, current)
        return worker
    }

    private func lines(_ report: StatusReport, columns: Int? = nil, style: TextStyle = .plain) -> [String] {
        StatusText(columns: columns, style: style, escape: masked).lines(report)
    }

    private func queue(_ name: String, available: Int = 0) -> StatusReport.Queue {
        StatusReport.Queue(name: name, jobs: [.available: available])
    }

    /// A store with something to say of everything.
    private var full: StatusReport {
        var urgent = StatusReport.Queue(name: "urgent", jobs: [.available: 12, .running: 3])
        (urgent.oldestWaitingSeconds, urgent.paused, urgent.maxRunning, urgent.rate) = (90, true, 4, "10/s")
        let job = StatusReport.RunningJob(
            id: 17,
            source: "https://example.com/a.jpg",
            since: Date(timeIntervalSince1970: -90)
        )
        let failed = StatusReport.FailedJob(
            id: 9,
            source: "file:///b.jpg",
            message: "file:///b.jpg: there is no such file"
        )
        return report(
            jobs: [.available: 12, .running: 3, .completed: 1_234_567_890],
            queues: [queue("default"), urgent],
            finished: .init(completed: 60, discarded: 30),
            workers: [
                worker(current: [job, job, job]), worker("w2", isAlive: false), worker("w3", stopping: .drain),
            ],
            blobs: .init(count: 1, bytes: 2_048),
            thumbnails: 1,
            sources: .init(count: 2, bytes: 1_024, evicted: 5, evictedBytes: 9),
            stages: [.init(stage: .wait, p50: 12, p95: 65_000), .init(stage: .render, p50: 120, p95: 2_500)],
            failures: [.init(code: .sourceNotFound, count: 30, example: failed)],
            etaSeconds: 120
        )
    }

    @Test func anEmptyStoreIsReportedInFull() {
        #expect(
            lines(report()).joined(separator: "\n") == """
                jobs      0 available, 0 running, 0 retryable, 0 scheduled
                          0 completed, 0 discarded, 0 cancelled
                ended     0 in 1 min, 0 in 5 min, 0 in 15 min
                          last minute: 0 completed, 0 discarded
                queues    none yet
                workers   none
                store     0 thumbnails; 0 blobs, 0 B
                          source cache: 0 originals, 0 B
                """
        )
    }

    @Test func aStandstillHasItsReasonAndTheCommandThatHelps() {
        func standstills(_ available: Int, paused: Bool, _ workers: StatusReport.Worker...) -> [String] {
            var queue = StatusReport.Queue(name: "q", jobs: [.available: available])
            queue.paused = paused
            return report(queues: [queue], workers: workers).standstills.map(\.text)
        }
        let missing = "no worker runs: start cameo-worker"
        let paused = "the queue q is paused: cameo-admin resume q"
        #expect(standstills(0, paused: true) == [])
        #expect(standstills(1, paused: false) == [missing])
        #expect(standstills(1, paused: true) == [missing, paused])
        #expect(
            standstills(1, paused: false, worker("w1", isAlive: false), worker("w2", stopping: .drain)) == [missing]
        )
        #expect(standstills(1, paused: true, worker("w1")) == [paused])
        #expect(standstills(1, paused: false, worker("w1")) == [])
        #expect(standstills(1, paused: false, worker("w1", queues: ["p", "q"])) == [])
        let untaken = "no worker takes jobs of the queue q: cameo-worker --queues q"
        #expect(standstills(1, paused: false, worker("w1", queues: ["p"])) == [untaken])
        #expect(standstills(1, paused: true, worker("w1", queues: ["p"])) == [paused])
    }

    @Test func everythingFitsOneScreen() {
        let text = lines(full, columns: 80)
        #expect(
            text.joined(separator: "\n") == """
                jobs      12 available, 3 running, 0 retryable, 0 scheduled
                          1234567890 completed, 0 discarded, 0 cancelled
                          oldest waits 90.0 s, about 2 min left
                ended     90 in 1 min, 90 in 5 min, 90 in 15 min, 1.5/s while there was work
                          last minute: 60 completed, 30 discarded
                p50       wait 12 ms, render 120 ms
                p95       wait 65.0 s, render 2.5 s
                QUEUE    AVAILABLE  RUNNING  RETRYABLE  SCHEDULED  OLDEST  LIMITS
                default          0        0          0          0
                urgent          12        3          0          0  90.0 s  paused, runs at most…
                WORKER  HOST   PID  VERSION  JOBS
                w1      w1    4321  0.1.0    runs 3 of 8 jobs
                  job 17, for 90.0 s: https://example.com/a.jpg
                  job 17, for 90.0 s: https://example.com/a.jpg
                w2      w2    4321  0.1.0    dead
                w3      w3    4321  0.1.0    runs 3 of 8 jobs, was asked to finish and end
                          the queue urgent is paused: cameo-admin resume urgent
                FAILURE          JOBS  SUCH AS  REASON                 SOURCE
                source.notFound    30        9  there is no such file  file:///b.jpg
                store     1 thumbnail; 1 blob, 2.0 KiB
                          source cache: 2 originals, 1.0 KiB (5 evicted so far)
                """
        )
        #expect(text.count <= 24)
        #expect(lines(full).contains { $0.hasSuffix("90.0 s  paused, runs at most 4, starts at most 10/s") })
    }

    @Test(arguments: [1, 20, 40, 79, 120])
    func linesFit(columns: Int) {
        for line in lines(full, columns: columns) { #expect(line.columns <= columns, "\(line)") }
    }

    /// Two thousand queues and a hundred workers do not push everything else off the screen.
    @Test func ofManyTheFullestAreShown() {
        let queues = (0..<2_000).map { queue("q\($0)", available: $0) }
        let text = lines(report(queues: queues, workers: (0..<100).map { worker("w\($0)") }))
        #expect(text.count <= 24 && text.contains { $0.hasPrefix("q1999 ") } && !text.contains { $0.hasPrefix("q0 ") })
        #expect(text.contains("… and 1992 queues more: cameo-status --json"))
        #expect(text.contains("… and 94 workers more: cameo-status --json"))
    }

    @Test func coloursAreAddedToTheSameText() {
        let colored = lines(full, columns: 80, style: .colored)
        #expect(colored.joined().contains("\u{1B}[31mw2 "))
        let bare = colored.map { $0.replacing(#/\u{1B}\[[0-9]*m/#, with: "") }
        #expect(bare == lines(full, columns: 80))
    }

    @Test func aLogHasOneLine() {
        #expect(
            StatusText(escape: masked).line(full)
                == "1970-01-01T00:00:00.000Z  0 scheduled  12 available  3 running  0 retryable  1234567890 completed  "
                + "0 discarded  0 cancelled  1.5/s  oldest waits 90.0 s  about 2 min left"
        )
    }

    /// In the status and for monitors; a hook's name is from outside.
    @Test(
        arguments: [
            ([], nil), ([("site", 1)], "1 delivery to site given up: cameo-status hooks"),
            ([("shop", 2), ("site", 1)], "2 deliveries to shop, 1 to site given up: cameo-status hooks"),
            (
                [("a", 2), ("b", 1), ("c", 3), ("d", 4)],
                "2 deliveries to a, 1 to b, 3 to c, … given up: cameo-status hooks"
            ),
        ] as [([(String, Int)], String?)]
    )
    func deliveriesThatWereGivenUpAreNamed(hooks: [(String, Int)], text: String?) {
        var report = report(workers: [worker()])
        report.undelivered = hooks.isEmpty ? nil : hooks.map { .init(hook: $0.0, count: $0.1) }
        #expect(lines(report).first { $0.hasPrefix("hooks ") } == text.map { "hooks     \($0)" })
        let health = HealthReport(report, workers: 1, maxLag: nil)
        #expect(health.isHealthy == (text == nil))
        #expect(health.checks.first { $0.name == .hooks }?.detail == text)
        if !hooks.isEmpty { report.undelivered = [.init(hook: hostile, count: 1)] }
        #expect(!lines(report).joined().contains("\u{1B}"))
    }

    /// Also for monitors.
    @Test func tablesThatAreNotFollowedAreNamed() {
        var report = report(workers: [worker()])
        #expect(HealthReport(report, workers: 1, maxLag: nil).isHealthy)
        report.unfollowed = [.init(name: "users.picture", reason: "it is gone"), .init(name: "z.y", reason: hostile)]
        #expect(
            lines(report).contains(
                "tables    users.picture is not followed: it is gone; and 1 more: cameo-admin attach --repair users.picture"
            )
        )
        report.unfollowed?.removeFirst()
        #expect(!lines(report).joined().contains("\u{1B}"))
        #expect(HealthReport(report, workers: 1, maxLag: nil).checks.first { $0.name == .tables }?.isHealthy == false)
    }

    @Test func aWorkerThatIsToEndAtOnceSaysSo() {
        #expect(WorkerText.line(worker(stopping: .now), escape: masked).hasSuffix(", was asked to end now"))
    }

    @Test func textFromOutsideIsEscaped() {
        let job = StatusReport.RunningJob(id: 1, source: hostile, since: Date(timeIntervalSince1970: 0))
        let failed = StatusReport.FailedJob(id: 2, source: hostile, message: hostile)
        let text = lines(
            report(
                queues: [queue(hostile)],
                workers: [worker(hostile, current: [job])],
                failures: [.init(code: .unknown, count: 1, example: failed)]
            )
        )
        .joined(separator: "\n")
        #expect(!text.contains("\u{1B}"))
        #expect(text.contains("\nMASKED ") && text.contains("\nMASKED  MASKED  4321"))
        #expect(text.contains(": MASKED\n") && text.contains(" MASKED  MASKED\n"))
    }

    @Test(
        arguments: [
            ([], 5, ""), ([0, 0], 5, "  "), ([0, 1, 2, 4, 8], 5, " ▂▃▅█"), ([8, 1, 2], 2, "▅█"), ([1, 2], 0, ""),
        ] as [([Double], Int, String)]
    )
    func barsReachFromZeroToTheHighest(numbers: [Double], columns: Int, bars: String) {
        #expect(Sparkline.text(numbers, columns: columns) == bars)
    }

    @Test func aNewStoreIsEmpty() async throws {
        let status = try await ReportBench().store.status()
        #expect(lines(status).contains { $0.contains("last minute") })
        #expect(status.jobs.values.allSatisfy { $0 == 0 } && status.thumbnails == 0)
        let json = String(decoding: try WireFormat.encode(status), as: UTF8.self)
        #expect(json.contains(#""jobs":{"available":0,"cancelled":0,"completed":0,"discarded":0,"retryable":0,"#))
    }
}

/// The deliveries of a hook on a terminal.
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
