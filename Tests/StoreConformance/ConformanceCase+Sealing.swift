import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// The ends of batches.
    static let sealing = [
        ConformanceCase("a sealed batch ends once, when none of its jobs is left, and its hook is told") { fixture in
            try await fixture.register()
            try await fixture.enqueue(3) { $0.batch = "b" }
            try await fixture.enqueue(1, from: 3)
            #expect(try await fixture.seals().isEmpty)
            try await fixture.store.add(BatchSeal(batch: "b", hook: "site"))
            let sealedAt = try #require(try await fixture.store.batch("b").sealedAt)
            let jobs = try await fixture.claim(4)
            for job in jobs.prefix(2) { try await fixture.complete(job) }
            #expect(try await fixture.seals().isEmpty, "one of its jobs runs")
            _ = try await fixture.store.settle(jobs[2].claim, as: .discard(Fixture.failure), timings: AttemptTimings())
            #expect(try await fixture.ends().isEmpty, "nobody has looked")
            let delivery = try #require(try await fixture.seals().first)
            guard case .batch(let end) = try await fixture.store.message(of: delivery) else {
                Issue.record("no batch is told of")
                return
            }
            #expect((end.id, end.batch, end.number, end.hook) == (delivery.id, "b", 1, "site"))
            #expect(end.jobs == [.completed: 2, .discarded: 1, .cancelled: 0] && end.sealedAt == sealedAt)
            #expect(end.failures == [BatchReport.Failures(code: .sourceTimeout, count: 1)])
            #expect((end.thumbnails, end.bytes) == (2, 2 * "thumbnail".utf8.count))
            #expect(try await fixture.seals().isEmpty, "one worker has it")
            try await fixture.store.settle(delivery, as: .delivered)
            #expect(try await fixture.seals().isEmpty)
            let report = try await fixture.store.batch("b")
            #expect(report.end == end && report.sealedAt == nil)
            #expect(try await fixture.report("site")?.delivered == 1)
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("jobs that come later open a batch again, until it is sealed again") { fixture in
            try await fixture.register()
            try await fixture.enqueue(1) { $0.batch = "b" }
            try await fixture.store.add(BatchSeal(batch: "b", hook: "site"))
            // Before the end, it is waited for; and two seals are one.
            try await fixture.enqueue(1, from: 1) { $0.batch = "b" }
            try await fixture.store.add(BatchSeal(batch: "b", hook: nil))
            for _ in 0..<2 {
                #expect(try await fixture.seals().isEmpty)
                try await fixture.complete(try #require(try await fixture.claim().first))
            }
            let first = try #require(try await fixture.seals().first)
            #expect(try await fixture.ends() == ["b 1"])
            _ = try await fixture.enqueue(1, from: 2) { $0.batch = "b" }
            let failed = try #require(try await fixture.claim().first)
            _ = try await fixture.store.settle(failed.claim, as: .discard(Fixture.failure), timings: AttemptTimings())
            #expect(try await fixture.seals().isEmpty, "it is open")
            // One that is retried is waited for.
            _ = try await fixture.store.retry(3)
            try await fixture.store.add(BatchSeal(batch: "b", hook: "other"))
            #expect(try await fixture.seals().isEmpty)
            _ = try await fixture.store.cancel(3)
            let second = try #require(try await fixture.seals().first)
            #expect(second.hook == "other" && second.id != first.id)
            #expect(try await fixture.store.batch("b").end?.number == 2)
            #expect(try await fixture.store.batch("b").end?.jobs == [.completed: 2, .discarded: 0, .cancelled: 1])
        },
        ConformanceCase("a batch is sealed by SQL, after the rows before it, and an empty one ends at once") {
            fixture in
            try await fixture.register()
            let request = #"{"source":"file:///a.jpg","renditions":[{"width":64}],"batch":"b"}"#
            try await fixture.sql("INSERT INTO job(request) VALUES ('\(request)')")
            try await fixture.sql("INSERT INTO batch_seal(batch, hook) VALUES ('b', 'site'), ('none', NULL)")
            #expect(try await fixture.seals().isEmpty, "its job was not accepted yet")
            #expect(try await fixture.ends() == [])
            let job = try #require(try await fixture.claim().first)
            #expect(try await fixture.seals().isEmpty)
            #expect(try await fixture.ends() == ["none 1"])
            #expect(try await fixture.store.batch("none").end?.jobs == [.completed: 0, .discarded: 0, .cancelled: 0])
            #expect(try await fixture.store.batch("none").total == 0)
            try await fixture.complete(job)
            #expect(try await fixture.seals().map(\.hook) == ["site"])
            #expect(try await fixture.ends() == ["b 1", "none 1"])
        },
        ConformanceCase("all that SQL asked for before the last seal is waited for") { fixture in
            try await fixture.register()
            try await fixture.sql("INSERT INTO batch_seal(batch) VALUES ('b')")
            let request = #"{"source":"file:///a.jpg","renditions":[{"width":64}],"batch":"b"}"#
            try await fixture.sql("INSERT INTO job(request) VALUES ('\(request)')")
            try await fixture.sql("INSERT INTO batch_seal(batch, hook) VALUES ('b', 'site')")
            #expect(try await fixture.seals().isEmpty, "the job was not accepted yet")
            try await fixture.complete(try #require(try await fixture.claim().first))
            #expect(try await fixture.seals().count == 1)
            #expect(try await fixture.store.batch("b").end?.jobs[.completed] == 1)
        },
        ConformanceCase("a repeated seal with nothing new tells nothing") { fixture in
            try await fixture.register()
            try await fixture.enqueue(1) { $0.batch = "b" }
            let seal = try BatchSeal(batch: "b", hook: "site")
            try await fixture.store.add(seal)
            _ = try await fixture.store.cancel(1)
            #expect(try await fixture.seals().count == 1)
            fixture.clock.advance(seconds: 1)
            try await fixture.store.add(seal)
            #expect(try await fixture.seals().isEmpty)
            #expect(try await fixture.ends() == ["b 1"])
            #expect(try await fixture.store.batch("b").sealedAt == nil)
            // As it ended before, and yet it did again.
            _ = try await fixture.store.retry(1)
            _ = try await fixture.store.cancel(1)
            try await fixture.store.add(seal)
            #expect(try await fixture.seals().count == 1)
            try await fixture.store.add(BatchSeal(batch: "b", hook: "other"))
            #expect(try await fixture.seals().map(\.hook) == ["other"])
            #expect(try await fixture.ends() == ["b 1", "b 2", "b 3"])
        },
        ConformanceCase("what retention removed before the end counts") { fixture in
            try await fixture.register()
            try await fixture.enqueue(1) { $0.batch = "b" }
            try await fixture.store.add(BatchSeal(batch: "b", hook: nil))
            try await fixture.complete(try #require(try await fixture.claim().first))
            fixture.clock.advance(seconds: 60)
            var retention = Retention.forever
            retention.completed = .zero
            try await fixture.prune(retention)
            #expect(try await fixture.sql("SELECT count(*) FROM job") == "0")
            try await fixture.store.endSealedBatches()
            #expect(try await fixture.store.batch("b").end?.jobs[.completed] == 1)
        },
        ConformanceCase("an end that was not delivered is tried again, given up and retried") { fixture in
            try await fixture.register()
            try await fixture.store.add(BatchSeal(batch: "b", hook: "site"))
            let first = try #require(try await fixture.seals().first)
            let later = fixture.clock.now.addingTimeInterval(60)
            try await fixture.store.settle(first, as: .retry(at: later, trouble: "503"))
            #expect(try await fixture.seals().isEmpty)
            fixture.clock.advance(seconds: 61)
            let second = try #require(try await fixture.seals().first)
            #expect((second.id, second.attempt, second.failures) == (first.id, 2, 1))
            try await fixture.store.settle(second, as: .giveUp(trouble: "500"))
            let report = try #require(try await fixture.report("site"))
            #expect((report.failed, report.failures.first?.batch, report.failures.first?.job) == (1, "b", nil))
            #expect(try await fixture.store.status().undelivered?.map(\.count) == [1])
            #expect(try await fixture.store.retryDeliveries(.ids([first.id])) == 1)
            let third = try #require(try await fixture.seals().first)
            // A worker that dies gives it back.
            try await fixture.register("w2")
            fixture.clock.advance(seconds: 3_600)
            _ = try await fixture.rescue("w1")
            #expect(try await fixture.seals(for: "w2").map(\.id) == [third.id])
        },
        ConformanceCase("names as no request has them seal nothing") { fixture in
            #expect(throws: InvalidRequest.self) { try BatchSeal(batch: "", hook: nil) }
            #expect(throws: InvalidRequest.self) { try BatchSeal(batch: "b", hook: "No hook") }
            for values in ["'', NULL", "'b', 'No hook'", "'b', ''", "'a' || '\n', 'site'"] {
                await #expect(throws: (any Error).self, "\(values)") {
                    try await fixture.sql("INSERT INTO batch_seal(batch, hook) VALUES (\(values))")
                }
            }
            await #expect(throws: StoreError.noSuch(.batch, "b")) { _ = try await fixture.store.batch("b") }
        },
    ]
}

extension Fixture {
    /// What is due for hooks once a worker has looked.
    fileprivate func seals(for worker: String = "w1") async throws -> [ClaimedDelivery] {
        try await store.endSealedBatches()
        return try await deliveries(for: worker)
    }

    /// The ends of batches, in the order of their names.
    fileprivate func ends() async throws -> [String] {
        let look = "SELECT batch || ' ' || number FROM batch_seal WHERE ended_at IS NOT NULL ORDER BY batch, number"
        return try await sql(look).split(separator: "\n").map(String.init)
    }
}
