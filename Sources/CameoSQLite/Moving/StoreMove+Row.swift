internal import CameoStore
internal import GRDB

extension StoreMove {
    /// A store that never moved has no table of moves.
    static func find(_ direction: Direction, _ db: Database) throws -> StoreMove? {
        let look = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'move')"
        guard try Bool.fetchOne(db, sql: look) == true else { return nil }
        let row = try Row.fetchOne(
            db,
            sql: "SELECT id, place, ended_at IS NOT NULL, kind, cursor FROM move WHERE direction = ?",
            arguments: [direction.rawValue]
        )
        guard let row else { return nil }
        let cursor = try (row[4] as String?).map { text in try StoreCursor(text: text) }
        return StoreMove(
            direction: direction,
            id: row[0],
            place: row[1],
            isEnded: row[2],
            position: (row[3] as String?).flatMap(RecordKind.init(rawValue:)).map { kind in
                Position(kind: kind, cursor: cursor)
            }
        )
    }

    static func end(_ direction: Direction, now: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE move SET ended_at = coalesce(ended_at, ?) WHERE direction = ?",
            arguments: [now, direction.rawValue]
        )
    }
}
