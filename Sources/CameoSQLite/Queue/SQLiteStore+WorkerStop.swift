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
                arguments: [now, stop.rawValue, id]
            )
            guard let worker = try Self.workers(db, directory, only: id).first else {
                throw StoreError.noSuch(.worker, id)
            }
            return worker
        }
    }

    static func stopRequest(for worker: String, _ db: Database) throws -> WorkerStop? {
        let statement = try db.cachedStatement(sql: "SELECT stop_mode FROM worker WHERE id = ?")
        return try String.fetchOne(statement, arguments: [worker]).flatMap(WorkerStop.init(rawValue:))
    }
}
