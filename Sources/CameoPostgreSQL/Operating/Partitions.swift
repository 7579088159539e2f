internal import CameoStore
internal import Foundation

// DESIGN. The history of jobs is partitioned by week. A week's partition is made ahead of it. It is dropped once retention
// has removed all that was in it, dead rows and all, which no vacuum then has to pass. Rows of a time without a partition
// are in the default one, and stay there: nothing waits for a partition. Both changes lock the table against everything
// for a moment, so they give up soon, and are tried again at the next maintenance.
enum Partitions {
    private static let week: Int64 = 7 * 86_400_000
    /// How many weeks ahead partitions are made.
    private static let ahead: Int64 = 4
    private static let tables = [(name: "outcome", time: "finalized_at"), (name: "attempt", time: "finished_at")]
    /// How long the change of a table waits for its lock.
    private static let patience = "500ms"

    /// Makes the partitions of this week and the next ones, and drops those of past weeks that are empty.
    static func keepUp(now: Int64, _ db: Database) throws {
        let current = now / week
        for table in tables {
            let known: [String] = try db.column(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::regclass",
                ["\(table.name)"]
            )
            for number in current...(current + ahead) where !known.contains("\(table.name)_w\(number)") {
                try attempt(db) { try make(number, of: table.name, by: table.time, db) }
            }
            for name in known {
                guard let number = Int64(name.dropFirst("\(table.name)_w".count)), number < current else { continue }
                try attempt(db) { try drop(name, db) }
            }
        }
    }

    /// Does something unless its lock is not to be had.
    private static func attempt(_ db: Database, _ body: () throws -> Void) throws {
        do {
            try db.inSavepoint {
                try db.execute("SELECT set_config('lock_timeout', '\(patience)', true)")
                try body()
            }
        } catch let error as DatabaseError where error.isUnavailableLock {
            // The next maintenance tries again.
        }
    }

    /// Makes a week's partition, unless the default one has rows of that week: they would have to be moved.
    private static func make(_ number: Int64, of table: String, by time: String, _ db: Database) throws {
        let (start, end) = (number * week, (number + 1) * week)
        let isTaken: Bool? = try db.value(
            "SELECT EXISTS (SELECT 1 FROM \(table)_other WHERE \(time) >= $1 AND \(time) < $2)",
            [start, end]
        )
        guard isTaken != true else { return }
        // Attaching locks less than creating it in its place.
        try db.execute("CREATE TABLE \(table)_w\(number) (LIKE \(table) INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
        try db.execute(
            "ALTER TABLE \(table) ATTACH PARTITION \(table)_w\(number) FOR VALUES FROM (\(start)) TO (\(end))"
        )
    }

    private static func drop(_ name: String, _ db: Database) throws {
        func isEmpty() throws -> Bool { try db.value("SELECT NOT EXISTS (SELECT 1 FROM \(name))") ?? false }
        guard try isEmpty() else { return }
        try db.execute("LOCK TABLE \(name) IN ACCESS EXCLUSIVE MODE")
        // Nothing ends in the past, but a clock may have been set back.
        if try isEmpty() { try db.execute("DROP TABLE \(name)") }
    }
}
