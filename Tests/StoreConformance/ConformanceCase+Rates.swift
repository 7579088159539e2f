import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// Rate limits of queues and keys.
    static let rates: [ConformanceCase] = [
        ConformanceCase("an exhausted rate does not block other queues") { fixture in
            try await enqueue(.queue, in: fixture)
            #expect(try await claim(fixture.store) == 10)
            try await fixture.enqueue { $0.queue = "other" }
            #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["other"])
        },
        ConformanceCase("an exhausted rate does not block other keys") { fixture in
            try await enqueue(.key, in: fixture)
            #expect(try await claim(fixture.store) == 10)
            try await fixture.enqueue(3)
            #expect(try await claim(fixture.store) == 3)
        },
        ConformanceCase("rates are in the reports") { fixture in
            try await fixture.store.limit(queue: "imports", toRate: StartRate("300/m"), unknown: .created)
            try await fixture.store.limit(key: "k", toRate: StartRate("5/30s"))
            #expect(try await fixture.store.queues().map(\.rate) == ["300/m"])
            #expect(try await fixture.store.concurrencyLimits().map(\.rate) == ["5/30s"])
        },
        ConformanceCase("a poison job takes a start") { fixture in
            // A poison job counts like any other job.
            try await fixture.enqueue(2)
            try await fixture.store.limit(queue: "default", toRate: StartRate("1/s"))
            _ = try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = 1")
            #expect(try await fixture.store.claim(limit: 9, kind: .poison, for: "w1").count == 1)
            #expect(try await fixture.store.claim(limit: 9, kind: .poison, for: "w1").isEmpty)
            fixture.clock.advance(seconds: 1)
            #expect(try await fixture.store.claim(limit: 9, kind: .poison, for: "w1").count == 1)
        },
    ]

    static let ratesVaried: [ConformanceCase] =
        Subject.allCases.map(tenStartAtOnceThenOneEveryTenthOfASecondAcrossProcesses)
        + Subject.allCases.map(aReleasedJobHasUsedItsStart)
        + Subject.allCases.flatMap { subject in
            [3_600.0, 1.05, 0.95, 0.5].map { aClockSetBackNeitherOpensNorClosesForLong(subject, $0) }
        }
        + Subject.allCases.map(removingARateLetsAllStart)

    private enum Subject: CaseIterable {
        case queue, key
    }

    /// Enqueues forty jobs of one queue and one key, ten of which may start each second.
    private static func enqueue(_ subject: Subject, in fixture: Fixture) async throws {
        try await fixture.store.limit(key: "k", to: 1_000)
        try await fixture.enqueue(40) { $0.concurrencyKey = "k" }
        switch subject {
        case .queue: try await fixture.store.limit(queue: "default", toRate: StartRate("10/s"))
        case .key: try await fixture.store.limit(key: "k", toRate: StartRate("10/s"))
        }
    }

    private static func claim(_ store: any Store) async throws -> Int {
        try await store.claim(limit: 99, for: "w1").count
    }

    private static func tenStartAtOnceThenOneEveryTenthOfASecondAcrossProcesses(_ subject: Subject) -> ConformanceCase {
        ConformanceCase("ten start at once, then one every tenth of a second across processes: \(subject)") { fixture in
            try await fixture.register()
            try await enqueue(subject, in: fixture)
            let other = try await fixture.another()
            #expect(try await claim(fixture.store) == 10)
            #expect(try await claim(other) == 0)
            let now = fixture.clock.now
            let next = try await fixture.store.sweep(for: "w1").due?.milliseconds
            #expect(next == now.milliseconds + 100, "the time a worker waits for")
            fixture.clock.advance(seconds: 0.05)
            #expect(try await claim(fixture.store) == 0)
            fixture.clock.advance(seconds: 0.06)
            #expect(try await claim(other) == 1)
            #expect(try await claim(fixture.store) == 0)
            fixture.clock.advance(seconds: 0.31)
            #expect(try await claim(fixture.store) == 3)
            // Unused starts do not accumulate for an hour.
            fixture.clock.advance(seconds: 3_600)
            #expect(try await claim(other) == 10)
            #expect(try await claim(fixture.store) == 0)
            try await fixture.store.extendLease(of: "w1")
            #expect(try await fixture.faults() == [])
        }
    }

    private static func aReleasedJobHasUsedItsStart(_ subject: Subject) -> ConformanceCase {
        ConformanceCase("a released job has used its start: \(subject)") { fixture in
            // The death of a worker does not return its starts.
            try await enqueue(subject, in: fixture)
            let jobs = try await fixture.store.claim(limit: 99, for: "w1")
            for job in jobs { try await fixture.store.release(job.claim) }
            #expect(try await claim(fixture.store) == 0)
            fixture.clock.advance(seconds: 0.1)
            #expect(try await claim(fixture.store) == 1)
        }
    }

    private static func aClockSetBackNeitherOpensNorClosesForLong(_ subject: Subject, _ seconds: Double)
        -> ConformanceCase
    {
        ConformanceCase("a clock set back neither opens nor closes for long: \(subject), \(seconds)") { fixture in
            try await enqueue(subject, in: fixture)
            #expect(try await claim(fixture.store) == 10)
            fixture.clock.advance(seconds: -seconds)
            #expect(try await claim(fixture.store) == 0)
            #expect(try await claim(fixture.another()) == 0)
            // One period and one start later, everything is back to normal.
            fixture.clock.advance(seconds: 1.1)
            let started = try await claim(fixture.store)
            #expect((1...10).contains(started), "\(started)")
            fixture.clock.advance(seconds: 1.2)
            #expect(try await claim(fixture.store) == 10)
        }
    }

    private static func removingARateLetsAllStart(_ subject: Subject) -> ConformanceCase {
        ConformanceCase("removing a rate lets all start: \(subject)") { fixture in
            try await enqueue(subject, in: fixture)
            #expect(try await claim(fixture.store) == 10)
            switch subject {
            case .queue: try await fixture.store.limit(queue: "default", toRate: nil)
            case .key: try await fixture.store.limit(key: "k", toRate: nil)
            }
            #expect(try await claim(fixture.store) == 30)
        }
    }
}
