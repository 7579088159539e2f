internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

/// The store that moves.
extension SQLiteStore: MovableStore {
    package func move(_ direction: StoreMove.Direction) async throws(StoreError) -> StoreMove? {
        try await read { db in try StoreMove.find(direction, db) }
    }

    package func beginMove(to place: String) async throws(StoreError) -> StoreMove {
        if let known = try await move(.away) { return try Self.goOn(with: known, to: place, at: location) }
        _ = try await rescueExpired(except: nil)
        while try await acceptArrivals() {}
        let (now, clock, directory) = (nowMilliseconds, clock, directory)
        let id = UUID().uuidString.filter { $0 != "-" }.lowercased()
        return try await commit(.moving) { db in
            if let known = try StoreMove.find(.away, db) {
                return try Self.goOn(with: known, to: place, at: directory.path)
            }
            try Self.expectNoWork(directory, db)
            // Those that were inserted since.
            while try Self.hasArrivals(db) {
                _ = try Self.accept(try Self.arrivals(clock, db), now: now, db)
            }
            let move = StoreMove(direction: .away, id: id, place: place, isEnded: false)
            try Schema.close(for: move, now: now, db)
            return move
        }
    }

    package func endMove() async throws(StoreError) {
        let now = nowMilliseconds
        try await commit(.moving) { db in try StoreMove.end(.away, now: now, db) }
    }

    package func cancelMove() async throws(StoreError) -> StoreMove {
        try await commit(.moving) { db in
            guard let move = try StoreMove.find(.away, db) else {
                throw StoreError.refused(reason: "this store is not moving, and never has")
            }
            try db.execute(sql: "DELETE FROM move WHERE direction = 'away'")
            try Schema.reopen(db)
            return move
        }
    }

    private static func goOn(with move: StoreMove, to place: String, at location: String) throws(StoreError)
        -> StoreMove
    {
        guard move.place == place else { throw move.error(at: location) }
        return move
    }

    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if a worker is alive or has left jobs.
    private static func expectNoWork(_ directory: StoreDirectory, _ db: Database) throws {
        let live = try String.fetchAll(db, sql: "SELECT id FROM worker ORDER BY id")
            .filter { id in try WorkerRegistration.isAlive(id, in: directory) }
        guard live.isEmpty else {
            let reason =
                "workers are alive (\(live.joined(separator: " "))); stop them with `cameo-admin worker stop --all`"
            throw StoreError.cannotOpen(path: directory.path, reason: reason)
        }
        let running = try Int.fetchOne(
            db,
            sql: """
                SELECT (SELECT count(*) FROM task WHERE state = 2) + (SELECT count(*) FROM delivery WHERE status = 1)
                """
        )
        guard running == 0 else {
            let reason = "jobs of a worker that died have not been taken back; try again"
            throw StoreError.cannotOpen(path: directory.path, reason: reason)
        }
    }
}
