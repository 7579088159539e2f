package import CameoModel
internal import GRDB

extension Store {
    /// Asks a worker to end; it looks several times a second, and can claim nothing more from now on. Who asked for `now`
    /// is not overruled by a later `drain`.
    ///
    /// - Returns: false for a worker whose process has died: it hears nothing, and its jobs are taken back anyway.
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> Bool {
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
            guard db.changesCount == 1 else { throw StoreError.noSuch(.worker, id) }
            return try WorkerRegistration.isAlive(id, in: directory)
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
