internal import CameoStore

extension Schema {
    /// Of a transaction that may insert jobs while the store is closed.
    static let movingSetting = "cameo.moves"

    private static let moves = """
        -- A move away from here, and one to here. Only stores that moved have this table.
        CREATE TABLE IF NOT EXISTS move(
          direction text PRIMARY KEY CHECK (direction IN ('away', 'here')),
          -- The same in both stores.
          id text NOT NULL,
          -- The other store.
          place text NOT NULL,
          begun_at bigint NOT NULL,
          ended_at bigint,
          -- The kind of the records that arrived last, and the last of them; no cursor: all of the kind.
          kind text,
          cursor text
        )
        """

    private static let doorkeeper = """
        CREATE OR REPLACE FUNCTION refuse_closed() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            IF coalesce(current_setting('\(movingSetting)', true), '') <> 'on' THEN
              RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NULL;
          END $$
        """

    /// Waits for the end of all transactions of Cameo's programs, each of which has read the version, and keeps others from
    /// beginning until the end of this one.
    static func awaitOthers(_ db: Database) throws {
        try db.execute("LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE")
    }

    /// Closes the store to all but the move. Waits for transactions that have inserted jobs.
    static func close(for move: StoreMove, _ db: Database) throws {
        try db.execute(moves)
        // Whoever may use the schema may read why it is closed.
        try db.execute("GRANT SELECT ON move TO PUBLIC")
        try db.execute(
            """
            INSERT INTO move(direction, id, place, begun_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (direction) DO UPDATE SET id = excluded.id, place = excluded.place, begun_at = excluded.begun_at,
              ended_at = NULL, kind = NULL, cursor = NULL
            """,
            [move.direction.rawValue, move.id, move.place, db.now]
        )
        let reason = move.refusalOfJobs.replacing("'", with: "''")
        try db.execute(doorkeeper)
        try db.execute(
            "CREATE TRIGGER job_is_closed BEFORE INSERT ON job FOR EACH STATEMENT EXECUTE FUNCTION refuse_closed('\(reason)')"
        )
        let marked = MarkedVersion(version: currentVersion, direction: move.direction)
        try db.execute("UPDATE schema_version SET version = $1", [marked.stored])
    }

    static func reopen(_ db: Database) throws {
        try db.execute("DROP TRIGGER IF EXISTS job_is_closed ON job")
        try db.execute("UPDATE schema_version SET version = $1", [currentVersion])
    }

    /// A refusal that names the other store of a move.
    static func named(_ refusal: Refusal?, _ url: DatabaseURL, _ db: Database) throws -> Refusal? {
        guard let refusal, refusal.isClosed, let direction = MarkedVersion(stored: db.version).direction,
            let move = try StoreMove.find(direction, db)
        else { return refusal }
        return Refusal(error: move.error(at: url.location), isClosed: true)
    }

    /// The error for a store that a move has closed.
    static func closure(_ direction: StoreMove.Direction, _ connection: Connection, _ url: DatabaseURL) throws
        -> StoreError
    {
        let rows = try connection.run(StoreMove.selection(schema: url.schema), [direction.rawValue]).rows
        guard let row = rows.first else { return .damagedDatabase(path: url.location) }
        return try StoreMove(row, direction).error(at: url.location)
    }
}
