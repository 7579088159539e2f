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
    private static let weeksOfAMove: Int64 = 53

    /// A table with partitions.
    struct Table: Sendable {
        static let all = [Table(name: "outcome", time: "finalized_at"), Table(name: "attempt", time: "finished_at")]

        let name: String
        /// The column by which it is partitioned.
        let time: String

        func partition(_ number: Int64) -> String { "\(name)_w\(number)" }

        /// The number of a partition's week; nil of the default one.
        func number(of partition: String) -> Int64? { Int64(partition.dropFirst("\(name)_w".count)) }
    }

    /// How long the change of a table waits for its lock.
    private static let patience = "500ms"

    /// A change of the history's partitions.
    enum Change: Sendable {
        /// The number of the week since 1970, and the table.
        case make(Int64, of: Table)
        /// A past week's partition.
        case drop(String)
    }

    /// The changes that are due: this week and the next ones need partitions, past ones only while they have rows. Each is
    /// for a transaction of its own, so that none holds the locks of another.
    static func changes(now: Int64, _ db: Database) throws -> [Change] {
        let current = now / week
        return try Table.all.flatMap { table in
            let known: [String] = try db.column(
                """
                SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                WHERE inhparent = $1::regclass ORDER BY relname
                """,
                [table.name]
            )
            let missing = (current...(current + ahead)).filter { !known.contains(table.partition($0)) }
            let past = try known.filter { name in
                guard let number = table.number(of: name), number < current else { return false }
                return try isEmpty(name, db)
            }
            return missing.map { Change.make($0, of: table) } + past.map { Change.drop($0) }
        }
    }

    /// Makes a change, unless its lock is not to be had.
    static func perform(_ change: Change, _ db: Database) throws {
        try attempt(db) {
            switch change {
            case .make(let number, let table): try make(number, of: table, db)
            case .drop(let name): try drop(name, db)
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

    /// Makes the partitions of times that are not more than a year away, for rows that come from another store.
    static func make(for times: [Int64], of table: Table, _ db: Database) throws {
        let current = db.now / week
        for number in Set(times.map { $0 / week }).sorted() where abs(number - current) <= weeksOfAMove {
            let name = "\(db.schema).\(table.partition(number))"
            guard try db.value("SELECT to_regclass($1) IS NULL", [name]) == true else { continue }
            try make(number, of: table, db)
        }
    }

    /// Makes a week's partition, unless the default one has rows of that week: they would have to be moved.
    private static func make(_ number: Int64, of table: Table, _ db: Database) throws {
        let (start, end, partition) = (number * week, (number + 1) * week, table.partition(number))
        let isTaken: Bool? = try db.value(
            "SELECT EXISTS (SELECT 1 FROM \(table.name)_other WHERE \(table.time) >= $1 AND \(table.time) < $2)",
            [start, end]
        )
        guard isTaken != true else { return }
        // Attaching locks less than creating it in its place.
        try db.execute("CREATE TABLE \(partition) (LIKE \(table.name) INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
        try db.execute("ALTER TABLE \(table.name) ATTACH PARTITION \(partition) FOR VALUES FROM (\(start)) TO (\(end))")
    }

    private static func drop(_ name: String, _ db: Database) throws {
        try db.execute("LOCK TABLE \(name) IN ACCESS EXCLUSIVE MODE")
        // Nothing ends in the past, but a clock may have been set back.
        if try isEmpty(name, db) { try db.execute("DROP TABLE \(name)") }
    }

    private static func isEmpty(_ name: String, _ db: Database) throws -> Bool {
        try db.value("SELECT NOT EXISTS (SELECT 1 FROM \(name))") ?? false
    }
}
