import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

// Operations and failures of workers.
extension ModelRun {
    private mutating func worker() async throws -> String {
        let alive = model.workers.filter(\.value.isAlive).keys.sorted()
        if alive.count >= 2, let name = alive.randomElement(using: &random) { return name }
        workersSoFar += 1
        let name = "w\(workersSoFar)"
        try await store.register(WorkerDescription(id: name, host: "h", pid: 1, version: "v", concurrency: 4))
        homes[name] = store
        model.extendLease(of: name, until: leaseUntil)
        return name
    }

    private var leaseUntil: Int64 { clock.storeClock.uptime() + Int64(store.lease.seconds * 1_000) }

    mutating func claim() async throws {
        let name = try await worker()
        try await homes[name]?.extendLease(of: name)
        model.extendLease(of: name, until: leaseUntil)
        let (limit, arePoisonJobs) = (Int.random(in: 1...4, using: &random), random.chance(0.2))
        let kind: ClaimKind = arePoisonJobs ? .poison : .usual
        let jobs = try await store.claim(limit: limit, kind: kind, queues: nil, for: name)
        let before = model.waiting
        let claimed = jobs.map(\.claim.jobID)
        let expected = model.claim(limit, poison: arePoisonJobs, for: name, now: now, claimed)
        #expect(claimed == expected, "fair: \(model.fair)\n\(before)")
        note(.claim, expected.isEmpty ? nil : .available)
        for job in jobs {
            let number = model.jobs[job.claim.jobID]?.claims ?? 0
            claims.append(HeldClaim(claim: job.claim, number: number))
        }
        claims.removeFirst(max(0, claims.count - 16))
    }

    mutating func settle(_ operation: Operation) async throws {
        guard let held = claims.randomElement(using: &random) else { return }
        let id = held.claim.jobID
        note(operation, model.jobs[id]?.state)
        let holds = model.holds(id, held.number)
        let retryAt = clock.now.addingTimeInterval(Double(Int.random(in: 0...60, using: &random)))
        do throws(StoreError) {
            switch operation {
            case .complete:
                try await store.settle(held.claim, as: .complete(.kept([], nil)), timings: AttemptTimings())
                model.finish(id, as: .completed)
            case .fail:
                let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
                try await end(held, .retry(failure, at: retryAt))
                model.putBack(id, retryAt: retryAt.milliseconds, charged: true, now: now)
            case .discard:
                let failure = JobFailure(.imageCorrupt, at: .render, "cut off")
                try await end(held, .discard(failure))
                model.finish(id, as: .discarded)
            default:
                try await end(held, .release)
                model.putBack(id, retryAt: nil, charged: false, now: now)
            }
            #expect(holds, "a lost claim settled job \(id)")
        } catch {
            #expect(error == .leaseLost(jobID: id) && !holds)
        }
    }

    private func end(_ held: HeldClaim, _ end: AttemptEnd) async throws(StoreError) {
        _ = try await store.settle(held.claim, as: end, timings: AttemptTimings())
    }

    /// Makes a worker die or fall silent beyond its lease, then runs a rescue.
    mutating func loseWorker(_ operation: Operation) async throws {
        let alive = model.workers.filter(\.value.isAlive).keys.sorted()
        guard let name = alive.randomElement(using: &random) else { return }
        let isBusy = model.jobs.values.contains { $0.worker == name }
        note(operation, isBusy ? .running : nil)
        if operation == .crash {
            let home = homes.removeValue(forKey: name)
            try await engine.kill(name, in: try #require(home))
            model.workers[name]?.isAlive = false
        } else {
            clock.advance(seconds: store.lease.seconds + 1)
        }
        model.rescue(uptime: clock.storeClock.uptime(), now: now)
        var seen: [String] = []
        repeat {
            try Task.checkCancellation()
            seen += try await store.rescueExpired(except: nil).workers
        } while operation == .crash && engine.mayLockOutliveItsWorker && !seen.contains(name)
        #expect(operation != .crash || seen.contains(name))
    }
}
