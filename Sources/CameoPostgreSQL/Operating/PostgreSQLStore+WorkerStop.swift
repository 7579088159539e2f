package import CameoModel
package import CameoStore

extension PostgreSQLStore {
    package func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> StatusReport.Worker {
        try await commit { db in
            let now = db.now
            try db.execute(
                """
                UPDATE worker SET stop_requested_at = coalesce(stop_requested_at, $1),
                  stop_mode = CASE WHEN stop_mode = 'stop' THEN stop_mode ELSE $2 END
                WHERE id = $3
                """,
                [now, stop.stored, id]
            )
            guard let worker = try Self.workers(now: now, only: id, db).first else {
                throw StoreError.noSuch(.worker, id)
            }
            return worker
        }
    }

    static func stopRequest(for worker: String, _ db: Database) throws -> WorkerStop? {
        try db.value("SELECT stop_mode FROM worker WHERE id = $1", [worker]).flatMap(WorkerStop.init(stored:))
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
