package import CameoModel
internal import CameoQueue
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
}
