import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let telling = [
        ConformanceCase("the end of a job with a hook is delivered once, that of another not at all") { fixture in
            try await fixture.register()
            try await fixture.enqueue(1) {
                $0.hook = "site"
                $0.batch = "b"
                $0.metadata = ["row": 7]
            }
            try await fixture.enqueue(1, from: 1)
            #expect(try await fixture.deliveries().isEmpty)
            for job in try await fixture.claim(2) { try await fixture.complete(job) }
            let delivery = try #require(try await fixture.deliveries().first)
            #expect((delivery.jobID, delivery.state, delivery.attempt) == (1, .completed, 1))
            let message = try await fixture.message(of: delivery)
            #expect((message.id, message.hook, message.job, message.state) == (delivery.id, "site", 1, .completed))
            #expect((message.queue, message.batch, message.metadata) == ("default", "b", ["row": 7]))
            #expect((message.source, message.failure?.code) == ("file:///pictures/0.jpg", nil))
            #expect(message.thumbnails.map(\.width) == [64] && message.supersededJobs == nil)
            #expect(try await fixture.deliveries(of: try await fixture.another()).isEmpty, "one worker has it")
            try await fixture.store.settle(delivery, as: .delivered)
            #expect(try await fixture.deliveries().isEmpty)
            await #expect(throws: StoreError.leaseLost(jobID: 1)) {
                try await fixture.store.settle(delivery, as: .delivered)
            }
            #expect(try await fixture.report("site")?.delivered == 1)
        },
        ConformanceCase("discarded and cancelled jobs are told too, and a retried job again") { fixture in
            try await fixture.register()
            try await fixture.enqueue(2) { $0.hook = "site" }
            let job = try #require(try await fixture.claim().first)
            _ = try await fixture.store.settle(job.claim, as: .discard(Fixture.failure), timings: AttemptTimings())
            _ = try await fixture.store.cancel(2)
            let ends = try await fixture.deliveries()
            try #require(ends.map(\.state) == [.discarded, .cancelled] && ends[0].failure?.code == .sourceTimeout)
            _ = try await fixture.store.retry(1)
            _ = try await fixture.store.cancel(1)
            let again = try await fixture.deliveries()
            #expect(again.map(\.jobID) == [1] && again[0].id != ends[0].id)
            #expect(try await fixture.message(of: ends[0]).state == .discarded, "as the job ended then")
        },
        ConformanceCase("a superseded job is told of by the one that took its place") { fixture in
            try await fixture.register()
            try await fixture.enqueue { $0.hook = "site" }
            let job = try #require(try await fixture.claim().first)
            try await fixture.enqueue(1, from: 0)
            let end = AttemptEnd.retry(Fixture.failure, at: fixture.clock.now)
            _ = try await fixture.store.settle(job.claim, as: end, timings: AttemptTimings())
            #expect(try await fixture.deliveries().isEmpty)
            try await fixture.complete(try #require(try await fixture.claim().first))
            let delivery = try #require(try await fixture.deliveries().first)
            let message = try await fixture.message(of: delivery)
            #expect((message.job, message.supersededJobs, message.state) == (2, [1], .completed))
        },
        ConformanceCase("every request that names a hook is told, whether it joins a job or needs none") { fixture in
            try await fixture.register()
            try await fixture.enqueue()
            let joined = try await fixture.store.enqueue([Fixture.request(0) { $0.hook = "site" }])[0]
            #expect((joined.outcome, joined.id) == (.joined, 1))
            _ = try await fixture.store.enqueue([Fixture.request(0) { $0.hook = "other" }])
            try await fixture.complete(try #require(try await fixture.claim().first))
            #expect(Set(try await fixture.deliveries().map(\.hook)) == ["site", "other"])
            for batch in [nil, "b", "b"] {
                let request = Fixture.request(0) {
                    ($0.refresh, $0.hook, $0.batch) = (.never, "site", batch)
                }
                let fresh = try await fixture.store.enqueue([request])[0]
                #expect(fresh.outcome == .fresh && fresh.id != nil)
                #expect(try await fixture.deliveries().map(\.jobID) == [fresh.id])
            }
        },
        ConformanceCase("a queue's hook is told of each of its jobs") { fixture in
            try await fixture.register()
            try await fixture.enqueue { $0.queue = "a" }
            try await fixture.store.setHook("site", ofQueue: "a", unknown: .refused)
            await #expect(throws: StoreError.noSuch(.queue, "b")) {
                try await fixture.store.setHook("site", ofQueue: "b", unknown: .refused)
            }
            try await fixture.enqueue(1, from: 1) { $0.queue = "a" }
            try await fixture.enqueue(1, from: 2) { ($0.queue, $0.hook) = ("a", "other") }
            try await fixture.enqueue(1, from: 3) { ($0.queue, $0.hook) = ("a", "site") }
            try await fixture.enqueue(1, from: 4)
            for id in 1...5 as ClosedRange<Int64> { _ = try await fixture.store.cancel(id) }
            let told = try await fixture.deliveries().map { "\($0.jobID ?? 0) \($0.hook)" }
            #expect(told.sorted() == ["2 site", "3 other", "3 site", "4 site"])
            #expect(try await fixture.report("site")?.queues == ["a"])
            #expect(try await fixture.store.queue("a").hook == "site")
            try await fixture.store.setHook(nil, ofQueue: "a", unknown: .refused)
            #expect(try await fixture.store.queue("a").hook == nil)
        },
        ConformanceCase("a failed delivery waits for its back-off, is given up, and can be retried") { fixture in
            try await fixture.register()
            try await fixture.enqueue { $0.hook = "site" }
            _ = try await fixture.store.cancel(1)
            let first = try #require(try await fixture.deliveries().first)
            try await fixture.store.settle(first, as: .retry(at: fixture.clock.now + 10, trouble: "500"))
            #expect(try await fixture.deliveries().isEmpty)
            #expect(try await fixture.report("site")?.trouble == "500")
            fixture.clock.advance(seconds: 10)
            let second = try #require(try await fixture.deliveries().first)
            #expect((second.id, second.attempt, second.failures) == (first.id, 2, 1))
            await #expect(throws: StoreError.leaseLost(jobID: 1), "an earlier claim") {
                try await fixture.store.settle(first, as: .delivered)
            }
            try await fixture.store.settle(second, as: .giveUp(trouble: "404"))
            let report = try #require(try await fixture.report("site"))
            #expect((report.waiting, report.failed) == (0, 1))
            #expect(report.failures.map(\.reason) == ["404"] && report.failures[0].tries == 2)
            #expect(try await fixture.store.status().undelivered == [.init(hook: "site", count: 1)])
            #expect(try await fixture.store.retryDeliveries(.ids(["none"])) == 0)
            #expect(try await fixture.store.retryDeliveries(.hook("other")) == 0)
            #expect(try await fixture.store.retryDeliveries(.ids([first.id])) == 1)
            #expect(try await fixture.store.status().undelivered == nil, "it waits again")
            let third = try #require(try await fixture.deliveries().first)
            #expect((third.id, third.failures, third.since) == (first.id, 0, fixture.clock.now))
            try await fixture.store.settle(third, as: .release)
            #expect(try await fixture.deliveries().map(\.attempt) == [4])
        },
        ConformanceCase("the deliveries of a dead or silent worker are released") { fixture in
            try await fixture.register("w1")
            try await fixture.enqueue { $0.hook = "site" }
            _ = try await fixture.store.cancel(1)
            let first = try #require(try await fixture.deliveries().first)
            fixture.clock.advance(seconds: fixture.store.lease.seconds + 1)
            #expect(try await fixture.store.rescueExpired(except: nil).workers == ["w1"], "silent")
            try await fixture.store.extendLease(of: "w1")
            #expect(try await fixture.deliveries().map(\.id) == [first.id])
            try await fixture.engine.kill("w1", in: fixture.store)
            _ = try await fixture.rescue("w1")
            try await fixture.register("w2")
            #expect(try await fixture.deliveries(for: "w2").map(\.id) == [first.id])
            try await fixture.store.deregister("w2")
            #expect(try await fixture.report("site")?.waiting == 1)
        },
        ConformanceCase("hooks are claimed apart, and a name that no worker knows is kept and shown") { fixture in
            try await fixture.register()
            try await fixture.enqueue(3) { $0.hook = "site" }
            try await fixture.enqueue(1, from: 3) { $0.hook = "unknown" }
            for id in 1...4 as ClosedRange<Int64> { _ = try await fixture.store.cancel(id) }
            try await fixture.store.note(hooks: ["site", "idle"], of: "w1")
            let some = try await fixture.store.claimDeliveries(["site": 2, "idle": 1], for: "w1")
            #expect(some.map(\.jobID) == [1, 2])
            let reports = try await fixture.store.hooks(failures: 1)
            #expect(reports.map(\.name) == ["idle", "site", "unknown"])
            #expect(reports.map(\.isKnown) == [true, true, false])
            #expect(reports.map(\.waiting) == [0, 1, 1] && reports.map(\.running) == [0, 2, 0])
            try await fixture.store.note(hooks: [], of: "w1")
            #expect(try await fixture.report("site")?.isKnown == false)
        },
        ConformanceCase("a job is kept until it has been told of, but not for ever") { fixture in
            try await fixture.register()
            try await fixture.enqueue(2) { $0.hook = "site" }
            _ = try await fixture.store.cancel(1)
            _ = try await fixture.store.cancel(2)
            let delivery = try #require(try await fixture.store.claimDeliveries(["site": 1], for: "w1").first)
            try await fixture.store.settle(delivery, as: .delivered)
            var retention = Retention()
            retention.cancelled = .zero
            fixture.clock.advance(seconds: 60)
            let turn = try #require(try await fixture.store.maintenanceTurn(within: .seconds(600)))
            #expect(try await fixture.store.prunable(retention).cancelled == 1)
            #expect(try await fixture.store.prune(retention, in: turn).cancelled == 1)
            #expect(try await fixture.state(of: 2) == .cancelled)
            fixture.clock.advance(seconds: 8 * 86_400)
            #expect(try await fixture.store.prune(retention, in: turn).cancelled == 1)
            #expect(try await fixture.report("site") == nil)
        },
    ]
}

extension ClaimedDelivery {
    fileprivate var state: JobState? { if case .job(_, let state, _, _) = end { state } else { nil } }
    fileprivate var failure: JobFailure? { if case .job(_, _, _, let failure) = end { failure } else { nil } }
}

extension Fixture {
    fileprivate func message(of delivery: ClaimedDelivery) async throws -> HookDelivery {
        let message = try await store.message(of: delivery)
        return try #require({ if case .job(let delivery) = message { delivery } else { nil } }())
    }

    /// Claims what is due for the hooks that the cases use.
    func deliveries(of store: (any Store)? = nil, for worker: String = "w1") async throws
        -> [ClaimedDelivery]
    {
        try await (store ?? self.store).claimDeliveries(["site": 9, "other": 9], for: worker)
    }

    func report(_ hook: String) async throws -> HookReport? {
        try await store.hooks(failures: 10).first { $0.name == hook }
    }
}
