import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let counting = [
        ConformanceCase("jobs and failures are counted as they end, and retention and retries take nothing back") {
            fixture in
            try await fixture.register("w1")
            try await fixture.enqueue(4) { $0.queue = "imports" }
            let jobs = try await fixture.claim(4)
            try await fixture.complete(jobs[0])
            try await fixture.complete(jobs[1], bytes: "another")
            let retry = AttemptEnd.retry(Fixture.failure, at: fixture.clock.now)
            _ = try await fixture.store.settle(jobs[2].claim, as: retry, timings: AttemptTimings())
            _ = try await fixture.store.settle(
                jobs[3].claim,
                as: .discard(Fixture.failure),
                timings: AttemptTimings()
            )
            let first = try await fixture.counters()
            #expect((first[.completed, "imports"], first[.discarded, "imports"]) == (2, 1))
            #expect((first[.retriedFailures, "source.timeout"], first[.finalFailures, "source.timeout"]) == (1, 1))
            // The discarded job ends again.
            #expect(try await fixture.store.retry(4).before == .discarded)
            #expect(try await fixture.counters() == first)
            _ = try await fixture.store.cancel(3)
            _ = try await fixture.store.cancel(4)
            let second = try await fixture.counters()
            #expect((second[.discarded, "imports"], second[.cancelled, "imports"]) == (1, 2))
            // Nothing is left of the queue.
            fixture.clock.advance(seconds: 400 * 86_400)
            let turn = try #require(try await fixture.store.maintenanceTurn(within: .seconds(600)))
            #expect(try await fixture.store.prune(Retention(), in: turn).queues == 1)
            #expect(try await fixture.counters() == second)
            try await fixture.enqueue(1, from: 9) { $0.queue = "imports" }
            try await fixture.complete(try #require(try await fixture.claim().first))
            #expect(try await fixture.counters()[.completed, "imports"] == 3)
        },
        ConformanceCase("what workers have counted is added with their leases and at their end") { fixture in
            for worker in ["w1", "w2"] { try await fixture.register(worker) }
            var counted = StoreCounters()
            counted.add(2, to: .sources, "cached")
            for milliseconds in [-3, 5, 6, 99, 4_000_000] { counted.add(milliseconds: milliseconds, to: .render) }
            try await fixture.store.extendLease(of: "w1", adding: counted)
            try await fixture.store.extendLease(of: "w2", adding: counted)
            try await fixture.store.deregister("w2", adding: counted)
            let all = try await fixture.counters()
            #expect(all[.sources, "cached"] == 6)
            let histogram = all.histogram(of: .render)
            #expect((histogram.count, histogram.milliseconds) == (15, 3 * 4_000_110))
            #expect(Array(histogram.upTo.prefix(6)) == [6, 9, 9, 9, 12, 12] && histogram.upTo.last == 12)
            #expect(all.histogram(of: .fetch).count == 0)
            try await fixture.engine.kill("w1", in: fixture.store)
            _ = try await fixture.rescue("w1")
            #expect(try await fixture.counters() == all)
        },
        ConformanceCase("a running attempt has the transfer that its worker reported last") { fixture in
            try await fixture.register("w1")
            try await fixture.enqueue(2)
            let jobs = try await fixture.claim(2)
            let (job, other) = (try #require(jobs.first), try #require(jobs.last))
            #expect(try await fixture.transfer(of: job) == nil)
            let half = JobAttempt.Transfer(receivedBytes: 5, totalBytes: 10)
            let unknown = JobAttempt.Transfer(receivedBytes: 7, totalBytes: nil)
            try await fixture.report([
                RunningTransfer(token: other.claim.token, transfer: unknown),
                RunningTransfer(token: job.claim.token, transfer: half),
            ])
            #expect(try await fixture.transfer(of: job) == half)
            #expect(try await fixture.store.job(other.claim.jobID).attempts?.last?.transfer == unknown)
            try await fixture.report([RunningTransfer(token: other.claim.token, transfer: unknown)])
            #expect(try await fixture.transfer(of: job) == nil)
            try await fixture.report([RunningTransfer(token: job.claim.token, transfer: half)])
            try await fixture.complete(job)
            #expect(try await fixture.transfer(of: job) == nil)
        },
        ConformanceCase("what the store refuses a worker is its trouble until it is over") { fixture in
            try await fixture.register("w1")
            let full = StatusReport.Worker.Trouble(reason: "full", since: fixture.clock.storeClock.now())
            for trouble in [full, nil] {
                let progress = WorkerProgress(trouble: trouble)
                try await fixture.store.extendLease(of: "w1", adding: StoreCounters(), progress)
                let status = try await fixture.another().status()
                #expect(status.workers.map(\.trouble) == [trouble])
                let findings = try await fixture.store.check { _ in }
                let finding = try #require(findings.first { $0.subject == "workers" })
                #expect((finding.severity == .warning) == (trouble != nil), "\(finding.message)")
                #expect(finding.message.contains("worker w1 on host waits for the store since") == (trouble != nil))
            }
        },
        ConformanceCase("the renderers of live workers are counted") { fixture in
            let worker = WorkerDescription(
                id: "w1",
                host: "host",
                pid: 1,
                version: "test",
                concurrency: 4,
                renderers: 3
            )
            try await fixture.store.register(worker)
            let metrics = try await fixture.another().metrics()
            #expect(metrics.renderers == 3)
            #expect(metrics.databaseBytes > 0)
            try await fixture.store.deregister("w1")
            #expect(try await fixture.another().metrics().renderers == 0)
        },
    ]
}

extension Fixture {
    /// All but the changes, which go on.
    fileprivate func counters() async throws -> StoreCounters {
        let counters = try await another().metrics().counters
        return counters.entries.filter { $0.family != .changes }.reduce(into: StoreCounters()) { sum, entry in
            sum.add(entry.value, to: entry.family, entry.label)
        }
    }
}

extension Fixture {
    /// The transfer of a job's last attempt.
    fileprivate func transfer(of job: ClaimedJob) async throws -> JobAttempt.Transfer? {
        try await another().job(job.claim.jobID).attempts?.last?.transfer
    }

    fileprivate func report(_ transfers: [RunningTransfer]) async throws {
        try await store.extendLease(of: "w1", adding: StoreCounters(), WorkerProgress(transfers: transfers))
    }
}
