package import CameoModel
package import CameoStore
internal import GRDB

extension SQLiteStore {
    /// Asks a worker to end; it looks several times a second, and can claim nothing more from now on. Who asked for `now`
    /// is not overruled by a later `drain`.
    ///
    /// - Returns: the worker that was asked. One whose process has died hears nothing, and its jobs are taken back anyway.
    /// - Throws: ``StoreError/noSuch(_:_:)``
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

    /// How the worker was asked to end; nil if it was not.
    package func stopRequest(for registration: WorkerRegistration) async throws(StoreError) -> WorkerStop? {
        try await read { db in try Self.stopRequest(for: registration.id, db) }
    }

    static func stopRequest(for worker: String, _ db: Database) throws -> WorkerStop? {
        let statement = try db.cachedStatement(sql: "SELECT stop_mode FROM worker WHERE id = ?")
        return try String.fetchOne(statement, arguments: [worker]).flatMap(WorkerStop.init(rawValue:))
    }
}
