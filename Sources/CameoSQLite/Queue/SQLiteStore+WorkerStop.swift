package import CameoModel
package import CameoStore
internal import GRDB

extension SQLiteStore {
    package func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> StatusReport.Worker {
        let (now, directory) = (nowMilliseconds, directory)
        return try await commit { db in
            try db.execute(
                sql: """
                    UPDATE worker SET stop_requested_at = coalesce(stop_requested_at, ?),
                      stop_mode = CASE WHEN stop_mode IS 'stop' THEN stop_mode ELSE ? END
                    WHERE id = ?
                    """,
                arguments: [now, stop.stored, id]
            )
            guard let worker = try Self.workers(db, directory, only: id).first else {
                throw StoreError.noSuch(.worker, id)
            }
            return worker
        }
    }

    static func stopRequest(for worker: String, _ db: SQLiteTransaction) throws -> WorkerStop? {
        let statement = try db.cachedStatement(sql: "SELECT stop_mode FROM worker WHERE id = ?")
        return try String.fetchOne(statement, arguments: [worker]).flatMap(WorkerStop.init(stored:))
    }
}

extension WorkerStop {
    /// Reads the stored word, which differs from the command's.
    init?(stored word: String) {
        guard let stop = Self.allCases.first(where: { $0.stored == word }) else { return nil }
        self = stop
    }

    fileprivate var stored: String {
        switch self {
        case .drain: "drain"
        case .now: "stop"
        }
    }
}
