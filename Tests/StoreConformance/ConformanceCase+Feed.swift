import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// The feed of changes.
    static let feed: [ConformanceCase] = [
        ConformanceCase("every state change appears once in commit order") { fixture in
            let (now, store) = (fixture.clock.now, fixture.store)
            try await fixture.register("w1")
            try await fixture.enqueue { $0.runAt = now + 60 }
            fixture.clock.advance(seconds: 60)
            try await store.fail(try await fixture.claimOne(), with: Fixture.failure, retryAt: now + 90)
            fixture.clock.advance(seconds: 30)
            try await store.release(try await fixture.claimOne())
            _ = try await store.snooze(1, until: now + 100)
            _ = try await store.retry(1)
            try await store.fail(try await fixture.claimOne(), with: Fixture.failure)
            _ = try await store.retry(1)
            _ = try await fixture.claimOne()
            fixture.clock.advance(seconds: store.lease.seconds + 1)
            #expect(try await store.rescueExpired(except: "me").rescued == 1)
            try await store.complete(try await fixture.claimOne())
            #expect(
                try await fixture.changes() == [
                    "1 scheduled", "1 available", "1 running", "1 retryable", "1 available", "1 running",
                    "1 available", "1 scheduled", "1 available", "1 running", "1 discarded", "1 available",
                    "1 running", "1 available", "1 running", "1 completed",
                ]
            )
            try await store.deregister("w1")
        },
        ConformanceCase("acceptance, refusal, superseding and cancellation appear") { fixture in
            try await fixture.enqueue()
            let request = Fixture.request(0).json.canonicalText
            let bad = #"{"source":"a","renditions":[{"width":1}],"priority":1000}"#
            try await fixture.sql(
                "INSERT INTO job(request) VALUES ('\(request)'); INSERT INTO job(request) VALUES ('\(bad)')"
            )
            _ = try await fixture.store.cancel(1)
            try await fixture.enqueue(2)
            try await fixture.store.cancelAll()
            // Calls that change no state add nothing.
            _ = try await fixture.store.cancel(1)
            #expect(
                try await fixture.changes() == [
                    "1 available", "1 cancelled", "2 available", "3 discarded", "4 available", "5 available",
                    "2 cancelled", "4 cancelled", "5 cancelled",
                ]
            )
        },
        ConformanceCase("many processes write one feed") { fixture in
            // Each job's changes are consecutive, whichever process makes them.
            try await fixture.enqueue(200)
            let stores = try await fixture.others(4)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, store) in stores.enumerated() {
                    group.addTask {
                        while case let jobs = try await store.claim(limit: 7, for: "w\(index)"), !jobs.isEmpty {
                            for job in jobs { try await store.complete(job.claim) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let changes = try await fixture.changes().map { $0.split(separator: " ") }
            let of = Dictionary(grouping: changes) { $0[0] }
            #expect(of.count == 200)
            #expect(of.values.allSatisfy { $0.map { $0[1] } == ["available", "running", "completed"] })
        },
    ]
}

extension Fixture {
    fileprivate func claimOne() async throws -> Claim { try #require(try await claim().first).claim }

    /// All changes as `job state`, with the names of the states.
    fileprivate func changes() async throws -> [String] {
        try await store.changes(since: 0, limit: .max).map { "\($0.job) \($0.state.rawValue)" }
    }
}
