package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// Calls of ``WorkerStore`` that combine several others.
extension SQLiteStore {
    package func register(_ worker: WorkerDescription) async throws(StoreError) {
        let registration = try await register(
            id: worker.id,
            host: worker.host,
            pid: worker.pid,
            version: worker.version,
            concurrency: worker.concurrency,
            renderers: worker.renderers,
            rendererVersion: worker.rendererVersion,
            quietHours: worker.quietHours?.description,
            queues: worker.queues,
            lacks: worker.lacks
        )
        registrations.withLock { $0[worker.id] = registration }
    }

    package func extendLease(of worker: String, adding counted: StoreCounters, transfers: [RunningTransfer])
        async throws(StoreError)
    {
        try await extendLease(try registration(of: worker), adding: counted, transfers: transfers)
    }

    package func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError) {
        try await deregister(try registration(of: worker), adding: counted)
        registrations.withLock { $0[worker] = nil }
    }

    private func registration(of worker: String) throws(StoreError) -> WorkerRegistration {
        guard let registration = registrations.withLock({ $0[worker] }) else { throw .noSuch(.worker, worker) }
        return registration
    }

    package func sweep(for worker: String) async throws(StoreError) -> WorkerSweep {
        let (directory, uptime, isInPlace) = (directory, clock.uptime(), isInPlace)
        let sweep = try await read { db in
            WorkerSweep(
                stop: try db.stopRequest(for: worker),
                refusal: try Schema.refusal(by: db.sqlite, at: directory.path),
                claims: try Self.claims(of: worker, db),
                due: try Self.nextDueTime(db).map(Date.init(milliseconds:)),
                hasLostWorkers: try Self.hasLostWorkers(except: worker, directory, uptime: uptime, db),
                isInPlace: isInPlace
            )
        }
        // The claims run into the same trouble with the store, and report it.
        if sweep.refusal == nil, isInPlace { _ = try? await acceptArrivals() }
        return sweep
    }

    package func takeRefused() -> [LostJob] {
        refused.withLock { refused in
            defer { refused = [] }
            return refused
        }
    }

    package func complete(
        _ claim: Claim,
        with product: JobProduct,
        timings: AttemptTimings
    ) async throws(StoreError) {
        switch product {
        case .rendered(let thumbnails, let provenance):
            try await complete(claim, storing: thumbnails, from: provenance, timings: timings)
        case .kept(let thumbnails, let seen):
            try await complete(claim, keeping: thumbnails, seen: seen, timings: timings)
        }
    }
}
