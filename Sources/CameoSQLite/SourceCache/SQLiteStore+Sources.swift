internal import CameoHTTPCache
internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

extension SQLiteStore {
    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        let forgotten = try await commit { db in try db.forgetSource(uri, extent) }
        try await dropPartials(of: uri)
        return forgotten
    }
}

extension SQLiteTransaction {
    package func nextSourceSeen() throws -> Int64 {
        let next: Int64? = try value("UPDATE sequence SET value = value + 1 WHERE name = 'source_seen' RETURNING value")
        guard let next else { throw StoreError.failed("the sequence source_seen is missing") }
        return next
    }

    package func add(_ count: Int, toTotal name: String) throws {
        try execute("UPDATE total SET value = value + ?2 WHERE name = ?1", [name, count])
    }

    package func settle(_ table: LimitedTable, _ id: Int64) throws {
        switch table {
        case .queue: try Queues.decide(id, self)
        case .key: try Keys.decide(id, self)
        }
    }
}
