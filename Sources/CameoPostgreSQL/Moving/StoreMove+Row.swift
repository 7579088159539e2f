internal import CameoStore

extension StoreMove {
    static func selection(schema: String) -> String {
        "SELECT id, place, ended_at IS NOT NULL, kind, cursor FROM \(schema).move WHERE direction = $1"
    }

    /// Reads a row of ``selection(schema:)``.
    init(_ row: Row, _ direction: Direction) throws {
        let (kind, text): (String?, String?) = try (row[3], row[4])
        let cursor = try text.map { text in try StoreCursor(text: text) }
        self.init(
            direction: direction,
            id: try row[0],
            place: try row[1],
            isEnded: try row[2],
            position: kind.flatMap(RecordKind.init(rawValue:)).map { Position(kind: $0, cursor: cursor) }
        )
    }

    /// A store that never moved has no table of moves.
    static func find(_ direction: Direction, _ db: Database) throws -> StoreMove? {
        guard try db.value("SELECT to_regclass($1) IS NOT NULL", ["\(db.schema).move"]) == true else { return nil }
        return try db.row(selection(schema: db.schema), [direction.rawValue]).map { row in
            try StoreMove(row, direction)
        }
    }

    static func end(_ direction: Direction, _ db: Database) throws {
        try db.execute(
            "UPDATE move SET ended_at = coalesce(ended_at, $1) WHERE direction = $2",
            [db.now, direction.rawValue]
        )
    }
}
