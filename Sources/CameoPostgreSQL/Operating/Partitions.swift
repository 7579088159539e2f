internal import CameoQueue
internal import CameoStore
internal import Foundation

// DESIGN. The history of jobs is partitioned by week. A week's partition is made ahead of it. It is dropped once retention
// has removed all that was in it, dead rows and all, which no vacuum then has to pass. Rows of a time without a partition
// are in the default one, and stay there: nothing waits for a partition. Both changes lock the table against everything
// for a moment, so they give up soon, and are tried again at the next maintenance. Functions of the tables' owner make
// them, so that workers need not be the owner (``Schema``).
enum Partitions {
    private static let week: Int64 = 7 * 86_400_000
    /// How many weeks ahead partitions are made.
    private static let ahead: Int64 = 4
    /// How far from now the partitions are that a move makes.
    private static let weeksOfAMove: Int64 = 53
    /// The tables with partitions.
    static let tables = ["outcome", "earlier_attempt"]
    /// How long the change of a table waits for its lock.
    private static let patience = "500ms"

    /// A change of a table's partitions. The week is its number since 1970.
    enum Change: Sendable {
        case make(table: String, week: Int64)
        /// A past week's partition, if it is empty.
        case drop(table: String, week: Int64)
    }

    /// The changes that are due: this week and the next ones need partitions, past ones only while they have rows. Each is
    /// for a transaction of its own, so that none holds the locks of another.
    static func changes(now: Int64, _ db: PostgreSQLTransaction) throws -> [Change] {
        let current = now / week
        return try tables.flatMap { table in
            let known: Set<String> = try Set(
                db.column(
                    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass",
                    [table]
                )
            )
            let missing = (current...(current + ahead)).filter { !known.contains("\(table)_w\($0)") }
            let empty: [Int64] = try db.column("SELECT empty_partitions($1, $2)", [table, current])
            return missing.map { Change.make(table: table, week: $0) } + empty.map { .drop(table: table, week: $0) }
        }
    }

    /// Makes a change, unless its lock is not to be had: then the next maintenance tries again.
    static func perform(_ change: Change, _ db: PostgreSQLTransaction) throws {
        do {
            try db.inSavepoint {
                try db.execute("SELECT set_config('lock_timeout', '\(patience)', true)")
                switch change {
                case .make(let table, let week): try db.execute("SELECT make_partition($1, $2)", [table, week])
                case .drop(let table, let week): try db.execute("SELECT drop_partition($1, $2)", [table, week])
                }
            }
        } catch let error as DatabaseError where error.isUnavailableLock {}
    }

    /// Makes the partitions of times that are not more than a year away, for rows that come from another store.
    static func make(for times: [Int64], of table: String, _ db: PostgreSQLTransaction) throws {
        let current = db.now / week
        for number in Set(times.map { $0 / week }).sorted() where abs(number - current) <= weeksOfAMove {
            let partition = "\"\(db.schema)\".\(table)_w\(number)"
            guard try db.value("SELECT to_regclass($1) IS NULL", [partition]) == true else { continue }
            try db.execute("SELECT make_partition($1, $2)", [table, number])
        }
    }
}
