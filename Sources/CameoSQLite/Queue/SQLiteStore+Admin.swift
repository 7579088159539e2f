package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func cancel(_ id: Int64) async throws(StoreError) -> JobState {
        try await acceptAll(through: id)
        return try await commit { db in try db.cancel(id) }
    }

    package func retry(_ id: Int64) async throws(StoreError) -> RetriedJob {
        try await acceptAll(through: id)
        return try await commit { db in try db.retry(id) }
    }

    package func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState {
        try await acceptAll(through: id)
        return try await commit { db in try db.snooze(id, until: time) }
    }

    /// Accepts all rows up to an id, because a job can be changed only once it is accepted.
    func acceptAll(through id: Int64) async throws(StoreError) {
        while try await read({ db in try Self.acceptedThrough(db) < id && Self.hasArrivals(db) }) {
            try await acceptArrivals()
        }
    }
}
