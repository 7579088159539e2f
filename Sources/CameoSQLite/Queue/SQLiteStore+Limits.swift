package import CameoModel
internal import CameoQueue
package import CameoStore

extension SQLiteStore {
    package func pause(_ queue: String, unknown: UnknownQueue = .refused) async throws(StoreError) -> Bool {
        try await commit { db in try db.setPaused(true, queue, unknown) }
    }

    package func resume(_ queue: String) async throws(StoreError) -> Bool {
        try await commit { db in try db.setPaused(false, queue, .refused) }
    }

    package func limit(
        queue: String,
        to count: Int?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in try db.limit(queue: queue, to: count, unknown) }
    }

    package func limit(
        queue: String,
        toRate rate: StartRate?,
        unknown: UnknownQueue = .refused
    ) async throws(StoreError) {
        try await commit { db in try db.limit(queue: queue, toRate: rate, unknown) }
    }

    package func setBackground(
        _ isBackground: Bool,
        queue: String,
        unknown: UnknownQueue
    ) async throws(StoreError) {
        try await commit { db in try db.setBackground(isBackground, queue: queue, unknown) }
    }

    @discardableResult
    package func limit(key: String, to count: Int?) async throws(StoreError) -> Bool {
        try await commit { db in try db.limit(key: key, to: count) }
    }

    package func limit(key: String, toRate rate: StartRate?) async throws(StoreError) {
        try await commit { db in try db.limit(key: key, toRate: rate) }
    }

    package func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit] {
        try await read { db in try db.concurrencyLimits() }
    }

    package func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit {
        try await read { db in try db.concurrencyLimit(of: key) }
    }
}
