import CameoModel
import CameoStore
import Foundation
import Synchronization
import TestSupport
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
        ConformanceCase("whoever waits for a job learns of its end, or of that of the job in its place") { fixture in
            try await fixture.enqueue()
            let job = try #require(try await fixture.claim().first)
            let (store, changes) = (fixture.store, StoreChanges(store: fixture.store))
            let looks = Mutex(0)
            let wait = Task {
                try await changes.first(of: 1, within: .seconds(300)) { () async throws -> JobPlace? in
                    let place = try await store.places(of: [1])[1]
                    looks.withLock { $0 += 1 }
                    return place?.state.isFinal == true ? place : nil
                }
            }
            // The second look is the last that nothing has caused.
            try await eventually("it waits") { looks.withLock { $0 } > 1 }
            try await fixture.enqueue(1, from: 0)
            let retry = AttemptEnd.retry(Fixture.failure, at: fixture.clock.now)
            #expect(try await store.settle(job.claim, as: retry, timings: AttemptTimings())?.supersededBy == 2)
            try await fixture.complete(try #require(try await fixture.claim().first))
            #expect(try await wait.value == JobPlace(job: 2, state: .completed))
        },
        ConformanceCase("a wait ends with its time and with its task") { fixture in
            try await fixture.enqueue()
            let changes = StoreChanges(store: fixture.store)
            for job in [1, nil] as [Int64?] {
                #expect(try await changes.first(of: job, within: .milliseconds(50)) { nil as Bool? } == nil)
                let looked = Mutex(false)
                let wait = Task {
                    try await changes.first(of: job, within: .seconds(300)) { () -> Bool? in
                        looked.withLock { $0 = true }
                        return nil
                    }
                }
                try await eventually("it waits") { looked.withLock { $0 } }
                wait.cancel()
                await #expect(throws: CancellationError.self) { try await wait.value }
            }
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
