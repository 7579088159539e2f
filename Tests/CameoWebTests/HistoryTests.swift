import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// The last hour, minute by minute; here the minutes are short.
@Suite(.timeLimit(.minutes(10)))
struct HistoryTests {
    private struct History: Decodable {
        struct Minute: Decodable {
            let at: Date
            let milliseconds, completed, discarded, cancelled, retried, waiting, running, mostWaiting, mostRunning: Int
            let stages: [Stage]
        }

        struct Stage: Decodable {
            let stage: String
            let count, p50, p95: Int
        }

        let minutes: [Minute]

        func total(_ count: (Minute) -> Int) -> Int { minutes.reduce(0) { $0 + count($1) } }
    }

    private let bench: WebBench

    init() async throws {
        bench = try await WebBench { $0.historyPace = .milliseconds(20) }
    }

    /// The history once it fulfils a condition.
    private func history(
        of other: WebBench? = nil,
        _ isComplete: @escaping @Sendable (History) -> Bool
    ) async throws -> History {
        let answer = try await (other ?? bench).wait("/history") { answer in
            try answer.status == 200 && !isComplete(WireFormat.decode(History.self, from: answer.body))
        }
        #expect(answer.status == 200, "\(answer.text)")
        return try WireFormat.decode(History.self, from: answer.body)
    }

    @Test func minutesHaveWhatHappenedInThem() async throws {
        let worker = try await bench.register()
        _ = try await history { !$0.minutes.isEmpty }
        for _ in 0..<3 { _ = try await bench.enqueue(Rendition(width: 64)) }
        try await bench.work(worker, with: WebBench.picture())
        for _ in 0..<2 { _ = try await bench.enqueue(Rendition(width: 64)) }
        try await bench.discard(worker)
        let retried = try await bench.enqueue(Rendition(width: 64))
        let job = try #require(
            try await bench.store.claim(ClaimRequest(limit: 1, background: 1, kind: .usual, queues: nil, for: worker))
                .first
        )
        let failure = JobFailure(.sourceTimeout, at: .fetch, "as the test wants it")
        let retry = AttemptEnd.retry(failure, at: Date(timeIntervalSinceNow: 3_600))
        _ = try await bench.store.settle(job.claim, as: retry, timings: AttemptTimings())
        var counted = StoreCounters()
        for _ in 0..<4 { counted.add(milliseconds: 8, to: .render) }
        try await bench.store.extendLease(of: worker, adding: counted, WorkerProgress())
        let all = try await history { all in
            all.total(\.completed) == 3 && all.total(\.discarded) == 2 && all.total(\.retried) == 1
                && !all.minutes.allSatisfy(\.stages.isEmpty) && all.minutes.last?.waiting == 1
        }
        #expect(all.total(\.cancelled) == 0 && all.minutes.allSatisfy { $0.milliseconds >= 1 })
        #expect(all.minutes.map(\.at) == all.minutes.map(\.at).sorted())
        let stages = all.minutes.flatMap(\.stages)
        #expect(stages.map { "\($0.stage) \($0.count) \($0.p50) \($0.p95)" } == ["render 4 8 10"])
        _ = try await bench.store.cancel(try #require(retried.id))
        _ = try await history { $0.total(\.cancelled) == 1 && $0.minutes.last?.waiting == 0 }
    }

    @Test func aBurstIsSeenAtItsHighest() async throws {
        // Time for several looks.
        let bench = try await WebBench { $0.historyPace = .milliseconds(500) }
        let worker = try await bench.register()
        for _ in 0..<3 { _ = try await bench.enqueue(Rendition(width: 64)) }
        _ = try await history(of: bench) { !$0.minutes.isEmpty }
        try await bench.work(worker, with: WebBench.picture())
        let all = try await history(of: bench) { $0.minutes.contains { $0.mostWaiting == 3 && $0.waiting == 0 } }
        #expect(all.minutes.allSatisfy { $0.mostWaiting <= 3 && $0.mostRunning >= $0.running })
    }

    @Test func minutesAreKeptForAnHour() async throws {
        let full = try await history { $0.minutes.count == 60 }
        let later = try await history { [last = full.minutes.last?.at ?? .distantPast] in
            $0.minutes.first.map { $0.at > last } ?? false
        }
        #expect(later.minutes.count == 60)
    }

    @Test func aStoreThatCannotBeReadLeavesAGap() async throws {
        let before = try await history { !$0.minutes.isEmpty }
        let lastBefore = try #require(before.minutes.last?.at)
        try await bench.sql("ALTER TABLE counter RENAME TO elsewhere;")
        #expect(try await bench.get("/metrics").text.contains("\ncameo_store_up 0\n"))
        #expect(try await bench.get("/history").status == 200)
        let gap = try await history { $0.minutes.last.map { $0.at < Date(timeIntervalSinceNow: -0.5) } ?? false }
        try await bench.sql("ALTER TABLE elsewhere RENAME TO counter;")
        let after = try await history { [end = gap.minutes.last?.at ?? lastBefore] in
            $0.minutes.last.map { $0.at > end } ?? false
        }
        #expect(after.minutes.contains { $0.milliseconds >= 400 })
    }

    @Test func readingItNeedsAToken() async throws {
        let guarded = try await WebBench(tokens: ["reader": "read", "importer": "enqueue"])
        #expect(try await guarded.get("/history").status == 401)
        #expect(try await guarded.get("/history", WebBench.bearer("importer")).status == 403)
        let reader = WebBench.bearer("reader")
        #expect(try await guarded.get("/history", reader).text == "{\"minutes\":[]}\n")
        #expect(try await guarded.get("/history?since=0", reader).status == 400)
    }

    @Test func quantilesAreInterpolatedWithinABucket() {
        var counters = StoreCounters()
        #expect(counters.histogram(of: .fetch).quantile(0.5) == nil)
        for milliseconds in [1, 1, 30, 40] { counters.add(milliseconds: milliseconds, to: .fetch) }
        let histogram = counters.histogram(of: .fetch)
        #expect([0.25, 0.5, 0.75, 1].compactMap { histogram.quantile($0) } == [2.5, 5, 37.5, 50])
        for _ in 0..<4 { counters.add(milliseconds: 9_000_000, to: .fetch) }
        #expect(counters.histogram(of: .fetch).quantile(0.95) == 1_800_000)
    }

    @Test func whatWasAddedIsNeverNegative() {
        var earlier = StoreCounters()
        earlier.add(5, to: .completed, "a")
        earlier.add(5, to: .discarded, "a")
        var later = StoreCounters()
        later.add(7, to: .completed, "a")
        later.add(2, to: .completed, "b")
        later.add(1, to: .discarded, "a")
        let added = later.added(to: earlier)
        #expect((added[.completed, "a"], added[.completed, "b"], added[.discarded, "a"]) == (2, 2, 0))
    }
}
