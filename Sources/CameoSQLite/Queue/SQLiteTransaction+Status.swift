internal import CameoModel
internal import CameoQueue
package import CameoStore

// What only this engine knows of a status.
extension SQLiteTransaction {
    package func commitWaitSeconds() -> Double? { nil }

    package func schemaVersion() throws -> Int { try Schema.version(of: connection, at: directory.path) }

    package func isAlive(_ worker: String, leaseUntil: Int64) throws -> Bool {
        try directory.isAlive(worker)
    }

    package func numbersOfChanges(since time: Int64) throws -> ClosedRange<Int64>? {
        func at(_ seq: Int64) throws -> Int64 {
            try value("SELECT at FROM change WHERE seq >= ?1 ORDER BY seq LIMIT 1", [seq]) ?? .max
        }
        // Separately, because SQLite answers only a lone min or max from the end of an index.
        let bounds = try row("SELECT (SELECT min(seq) FROM change) AS first, (SELECT max(seq) FROM change) AS last")
        guard var low: Int64 = try bounds?["first"], let last: Int64 = try bounds?["last"], try at(last) >= time else {
            return nil
        }
        var high = last
        while low < high {
            let middle = low + (high - low) / 2
            if try at(middle) >= time { high = middle } else { low = middle + 1 }
        }
        return low...last
    }
}

extension SQLiteStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        let directory = directory
        return try await read { db -> StoreMetrics in
            let workers = try db.query("SELECT id, renderers FROM worker WHERE renderers > 0")
                .filter { try directory.isAlive($0["id"]) }
            return (
                counters: try db.counters(),
                renderers: try workers.reduce(0) { $0 + (try $1["renderers"]) },
                databaseBytes: try db.databaseSize().bytes,
                freeBytes: BlobFiles.freeBytes(of: directory)
            )
        }
    }
}
