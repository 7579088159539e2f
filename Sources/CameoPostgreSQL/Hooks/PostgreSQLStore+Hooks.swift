package import CameoModel
internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    package func hooks(failures limit: Int) async throws(StoreError) -> [HookReport] {
        try await read { db in try db.hooks(failures: limit) }
    }

    package func note(hooks: [String], of worker: String) async throws(StoreError) {
        try await commit { db in try db.note(hooks: hooks, of: worker) }
    }

    package func claimDeliveries(
        _ room: [String: Int],
        for worker: String
    ) async throws(StoreError) -> [ClaimedDelivery] {
        // Most looks find nothing, and need no transaction that writes.
        let due = try await read { db in try db.due(room) }
        guard !due.isEmpty else { return [] }
        return try await commit { db in
            try due.sorted { $0.key < $1.key }
                .flatMap { hook, limit in try db.claimDeliveries(of: hook, limit: limit, for: worker) }
        }
    }

    package func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookDelivery {
        try await read { db in
            try db.message(of: delivery, job: try db.job(delivery.jobID))
        }
    }

    package func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError) {
        try await commit(.begun) { db in try db.settle(delivery, as: end) }
    }

    package func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int {
        try await commit { db in try db.retryDeliveries(choice) }
    }

    package func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError) {
        try await commit { db in try db.setHook(hook, ofQueue: queue, unknown) }
    }
}
