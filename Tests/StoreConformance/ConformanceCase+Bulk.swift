import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    /// Changes of many jobs at once.
    static let bulk: [ConformanceCase] = [
        ConformanceCase("a retry affects only jobs with the code") { fixture in
            try await fixture.register()
            try await discard(3, .sourceTimeout, in: fixture)
            try await discard(2, .imageCorrupt, in: fixture)
            let filter = filter { $0.codes = [.sourceTimeout] }
            #expect(try await fixture.store.count(filter) == 3)
            let progress = try await fixture.store.change(filter, by: .retry)
            #expect((progress.matched, progress.changed, progress.passed) == (3, 3, 0))
            let report = try await fixture.store.status()
            #expect((report.count(.available), report.count(.discarded)) == (3, 2))
            let job = try await fixture.store.job(1)
            #expect((job.attempt, job.failure) == (0, nil))
            #expect(job.attempts?.map(\.failure?.code) == [.sourceTimeout], "its history is kept")
        },
        ConformanceCase("a change defaults to its usual states") { _ in
            let retried = try BulkChange.retry.meant(by: JobFilter())
            #expect(retried.states == [.discarded])
            let cancelled = try BulkChange.cancel.meant(by: JobFilter())
            #expect(cancelled.states == [.scheduled, .available, .running, .retryable])
            let named = filter { $0.states = [.retryable] }
            let meant = try BulkChange.cancel.meant(by: named)
            #expect(meant == named)
            let error = #expect(throws: BulkChange.Inapplicable.self) {
                try BulkChange.retry.meant(by: filter { $0.states = [.discarded, .running] })
            }
            #expect(error?.state == .running)
        },
        ConformanceCase("the limit takes the oldest") { fixture in
            try await fixture.register()
            try await discard(5, .sourceTimeout, in: fixture)
            let progress = try await fixture.store.change(filter { $0.limit = 2 }, by: .retry)
            #expect((progress.matched, progress.changed) == (2, 2))
            #expect(
                try await fixture.store.states(of: [1, 2, 3]) == [1: .available, 2: .available, 3: .discarded]
            )
        },
        ConformanceCase("a large change is made of small transactions") { fixture in
            // Each page is a separate commit, after which other processes get their turn.
            try await fixture.register()
            try await discard(1_250, .sourceTimeout, in: fixture)
            var steps: [Int] = []
            _ = try await fixture.store.change(filter { _ in }, by: .retry) { steps.append($0.changed) }
            #expect(steps == [500, 1_000, 1_250])
        },
        ConformanceCase("an interrupted change keeps what it did") { fixture in
            struct Enough: Error {}
            try await fixture.register()
            try await discard(600, .sourceTimeout, in: fixture)
            await #expect(throws: Enough.self) {
                try await fixture.store.change(filter { _ in }, by: .retry) { _ in throw Enough() }
            }
            #expect(try await fixture.store.status().count(.available) == 500)
        },
        ConformanceCase("jobs of a state that the change does not mean are not counted") { fixture in
            try await discard(2, .sourceTimeout, in: fixture)
            try await fixture.enqueue(3)
            let progress = try await fixture.store.change(filter { $0.states = [] }, by: .retry)
            #expect((progress.changed, progress.passed) == (2, 3))
        },
        ConformanceCase("a cancellation stops all that has not ended") { fixture in
            try await fixture.register()
            try await discard(2, .imageCorrupt, in: fixture) { $0.batch = "holiday" }
            try await fixture.enqueue(3) { $0.batch = "holiday" }
            try await fixture.enqueue(1)
            let running = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            let filter = filter { ($0.states, $0.batch) = (BulkChange.cancel.usualStates, "holiday") }
            #expect(try await fixture.store.change(filter, by: .cancel).changed == 3)
            let job = try await fixture.store.job(running.claim.jobID)
            #expect((job.state, job.attempts?.map(\.outcome)) == (.cancelled, [.cancelled]))
            let report = try await fixture.store.status()
            #expect((report.count(.cancelled), report.count(.discarded), report.count(.available)) == (3, 2, 1))
            #expect(try await fixture.faults() == [])
        },
    ]

    static let bulkVaried: [ConformanceCase] =
        [("queue", 1), ("batch", 2), ("label", 2), ("key", 3), ("source", 3), ("before", 4), ("all", 8)]
        .map { filtersMatchWhatTheyName($0, $1) }

    /// Discards this many jobs, each with a failure code.
    private static func discard(
        _ count: Int,
        _ code: JobFailure.Code,
        in fixture: Fixture,
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) async throws {
        try await fixture.enqueue(count, change: change)
        let jobs = try await fixture.store.claim(limit: count, for: "w1")
        try await fixture.store.discard(jobs, JobFailure(code, at: .fetch, "no"))
    }

    private static func filter(_ change: (inout JobFilter) -> Void) -> JobFilter {
        var filter = JobFilter()
        filter.states = [.discarded]
        filter.limit = .max
        change(&filter)
        return filter
    }

    private static func filtersMatchWhatTheyName(_ name: String, _ count: Int) -> ConformanceCase {
        ConformanceCase("filters match what they name: \(name), \(count)") { fixture in
            try await fixture.register()
            try await discard(1, .sourceTimeout, in: fixture) {
                ($0.queue, $0.concurrencyKey) = ("imports", "tenant")
            }
            try await discard(2, .sourceTimeout, in: fixture) {
                ($0.batch, $0.labels) = ("holiday", ["album:7", "user:42"])
            }
            try await discard(3, .sourceTimeout, in: fixture) {
                $0.source = "https://shop.example/%_/\($0.source.suffix(5))"
                $0.labels = ["user:4", "User:42"]
            }
            for name in ["1", "2"] {
                try await discard(1, .sourceTimeout, in: fixture) {
                    ($0.source, $0.concurrencyKey) = ("https://shop.example/%X/\(name).jpg", "tenant")
                }
            }
            try await fixture.enqueue(1) { ($0.concurrencyKey, $0.labels) = ("tenant", ["user:42"]) }
            var filter = filter { filter in
                switch name {
                case "queue": filter.queue = "imports"
                case "batch": filter.batch = "holiday"
                case "label": filter.label = "user:42"
                case "key": filter.concurrencyKey = "tenant"
                case "source": filter.sourcePrefix = "https://shop.example/%_/"
                case "before": filter.before = 5
                default: break
                }
            }
            #expect(try await fixture.store.count(filter) == count)
            #expect(try await fixture.store.jobs(filter).count == count)
            #expect(try await fixture.store.change(filter, by: .retry).changed == count)
            #expect(try await fixture.store.status().count(.available) == count + 1)
            filter.states = []
            let unfinished = ["label", "key", "all"].contains(name) ? 1 : 0
            #expect(try await fixture.store.count(filter) == count + unfinished)
        }
    }
}
