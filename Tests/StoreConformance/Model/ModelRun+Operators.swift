import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

// Operations of operators.
extension ModelRun {
    private mutating func someJob() -> ModelJob? {
        model.jobs.values.sorted { $0.id < $1.id }.randomElement(using: &random)
    }

    mutating func byHand(_ operation: Operation) async throws {
        guard var job = someJob() else { return }
        let (id, time) = (job.id, now)
        if [.cancel, .retry, .snooze].contains(operation) {
            model.acceptArrivals(through: id, now: time)
            job = model.jobs[id] ?? job
        }
        switch operation {
        case .cancel:
            #expect(try await store.cancel(id) == job.state)
            model.cancel(id)
        case .retry:
            #expect(try await store.retry(id).before == job.state)
            model.retry(id, now: time)
        case .snooze:
            let until = clock.now.addingTimeInterval(Double(Int.random(in: 0...60, using: &random)))
            #expect(try await store.snooze(id, until: until) == job.state)
            model.snooze(id, until: until.milliseconds)
        case .remove: return try await removeOne()
        default:
            // The process dies inside the transaction, which leaves nothing behind.
            await #expect(throws: StoreError.self) {
                try await engine.tear(operation == .tornCancel ? .cancel : .retry, of: id, in: store)
            }
        }
        note(operation, job.state)
    }

    /// Removes ended jobs like retention does.
    mutating func removeOne() async throws {
        let ended = model.jobs.values.filter(\.state.isFinal).sorted { $0.id < $1.id }
        guard let job = ended.randomElement(using: &random) else { return }
        note(.remove, job.state)
        try await engine.remove(job.id, in: store)
        model.jobs[job.id] = nil
    }

    /// Something happens while the clock is wrong by days. Not if rows wait for acceptance, which then are of another time.
    mutating func jump() async throws {
        guard model.jobs.values.allSatisfy(\.isAccepted) else { return }
        note(.jump, nil)
        let days = Double(Int.random(in: 1...5, using: &random)) * (random.chance(0.5) ? 1 : -1)
        clock.jump(days: days)
        try await enqueue()
        try await byHand(.cancel)
        clock.jump(days: -days)
    }

    /// Retention, which may remove ended jobs only, and leaves a status to be told.
    mutating func prune() async throws {
        // Rarely, because ended jobs are worth keeping.
        guard random.chance(0.2) else { return }
        note(.prune, nil)
        var retention = Retention()
        (retention.completed, retention.cancelled, retention.discarded) = (.seconds(60), .seconds(90), .seconds(60))
        model.acceptArrivals(now: now)
        _ = try await store.prune(retention, in: try await store.freeTurn())
        let left = Set(try await engine.column("SELECT cast(id AS text) FROM job", of: store))
        for job in model.jobs.values where !left.contains(String(job.id)) {
            #expect(job.state.isFinal)
            model.jobs[job.id] = nil
        }
        let cursors = try await store.changes(since: 0, limit: .max).map(\.cursor)
        if let first = cursors.first { #expect(cursors == Array(first..<first + Int64(cursors.count))) }
        _ = try await store.status()
    }

    mutating func pause() async throws {
        guard let queue = Self.queues.randomElement(using: &random) else { return }
        note(.pause, nil)
        if model.paused.remove(queue) != nil {
            _ = try await store.resume(queue)
        } else {
            _ = try await store.pause(queue, unknown: .created)
            model.paused.insert(queue)
        }
    }

    mutating func limit() async throws {
        note(.limit, nil)
        let count = Int.random(in: 1...4, using: &random)
        if random.chance(0.3), let queue = Self.queues.randomElement(using: &random) {
            let isFair = model.fair.remove(queue) == nil
            if isFair { model.fair.insert(queue) }
            try await store.setFair(isFair, queue: queue, unknown: .created)
        } else if random.chance(0.2), let tenant = Self.tenants.randomElement(using: &random) {
            try await store.setWeight(Double(count), ofTenant: tenant)
        } else if random.chance(0.5), let key = Self.keys.randomElement(using: &random) {
            try await store.limit(key: key, to: count)
            model.keyLimits[key] = count
        } else if let queue = Self.queues.randomElement(using: &random) {
            let limit = count == 4 ? nil : count
            try await store.limit(queue: queue, to: limit, unknown: .created)
            model.queueLimits[queue] = limit
        }
    }
}
