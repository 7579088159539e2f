internal import CameoModel
package import CameoStore
internal import Foundation

/// The store that moves.
extension PostgreSQLStore: MovableStore {
    package func move(_ direction: StoreMove.Direction) async throws(StoreError) -> StoreMove? {
        try await read { db in try StoreMove.find(direction, db) }
    }

    package func beginMove(to place: String) async throws(StoreError) -> StoreMove {
        let known = try await self.move(.away)
        if let known {
            guard known.place == place else { throw known.error(at: location) }
        } else {
            _ = try await rescueExpired(except: nil)
            try await acceptArrivals()
        }
        let id = UUID().uuidString.filter { $0 != "-" }.lowercased()
        let url = url
        let move = try await moving { db in
            try Schema.awaitOthers(db)
            if let known = try StoreMove.find(.away, db) {
                guard known.place == place else { throw known.error(at: url.location) }
                return known
            }
            try db.expectNoWork(url)
            let move = StoreMove(direction: .away, id: id, place: place, isEnded: false)
            try Schema.close(for: move, db)
            // Those that were inserted since.
            while true {
                let page = try Arrival.page(db)
                if page.isEmpty { return move }
                _ = try db.accept(page)
            }
        }
        // Nothing changes any more, so all changes get their numbers and all counts are folded.
        while try await moving({ db in try ChangeFeed.number(.waits, db) }) {}
        try await moving { db in try db.foldCounts() }
        return move
    }

    package func endMove() async throws(StoreError) {
        try await moving { db in try StoreMove.end(.away, db) }
    }

    package func cancelMove() async throws(StoreError) -> StoreMove {
        try await moving { db in
            try Schema.awaitOthers(db)
            guard let move = try StoreMove.find(.away, db) else {
                throw StoreError.refused(reason: "this store is not moving, and never has")
            }
            try db.execute("DELETE FROM move WHERE direction = 'away'")
            try Schema.reopen(db)
            return move
        }
    }
}

extension Database {
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if a worker is alive or has left jobs.
    fileprivate func expectNoWork(_ url: DatabaseURL) throws {
        let live: [String] = try column("SELECT id FROM worker WHERE lease_until >= $1 ORDER BY id", [now])
        guard live.isEmpty else {
            let reason =
                "workers are alive (\(live.joined(separator: " "))); stop them with `cameo-admin worker stop --all`"
            throw StoreError.cannotOpen(path: url.location, reason: reason)
        }
        let running: Int? = try value(
            "SELECT (SELECT count(*) FROM task WHERE state = 2) + (SELECT count(*) FROM delivery WHERE status = 1)"
        )
        guard running == 0 else {
            let reason = "jobs of a worker that died have not been taken back; try again in some seconds"
            throw StoreError.cannotOpen(path: url.location, reason: reason)
        }
    }
}
