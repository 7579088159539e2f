internal import CameoStore
internal import GRDB

extension SQLiteStore {
    /// The prefix reserved for other programs: no version of Cameo gives a table, index, trigger or view such a name.
    private static let guestPrefix = "app_"

    static func ownTables(_ db: SQLiteTransaction) throws -> CheckFinding {
        let names = try String.fetchSet(db.sqlite, sql: "SELECT name FROM sqlite_schema")
        return CheckFinding(
            "schema",
            try Schema.ownNames().subtracting(names).sorted().map { "\($0) is missing" },
            ok: "all tables, indexes, triggers and views of version \(Schema.currentVersion) are there",
            advice: "Another program dropped it. Restore a backup"
        )
    }

    /// Rows of Cameo's tables that refer to missing rows. Other programs' tables are not checked.
    static func danglingRows(_ db: SQLiteTransaction) throws -> [(table: String, parent: String)] {
        let own = try Schema.ownNames()
        let tables = try String.fetchAll(
            db.sqlite,
            sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        )
        return try tables.filter(own.contains).flatMap { table in
            try Row.fetchAll(db.sqlite, sql: "SELECT parent FROM pragma_foreign_key_check(?)", arguments: [table])
                .map { (table: table, parent: $0["parent"]) }
        }
    }

    /// Checks that other programs' tables do not interfere. Their triggers on Cameo's tables would run inside Cameo's
    /// transactions, and their foreign keys would prevent the removal of jobs.
    static func guests(_ db: SQLiteTransaction) throws -> CheckFinding {
        // SQLite's names are case-insensitive but stored as spelled.
        let own = Set(try Schema.ownNames().map { $0.lowercased() })
        let rows = try Row.fetchAll(
            db.sqlite,
            sql: "SELECT type, name, tbl_name FROM sqlite_schema WHERE \(Schema.namedByPrograms) ORDER BY name"
        )
        let guests = rows.map {
            (type: $0["type"] as String, name: $0["name"] as String, table: $0["tbl_name"] as String)
        }
        .filter { !own.contains($0.name.lowercased()) }
        var problems: [String] = []
        for guest in guests {
            let name = "the \(guest.type) \(guest.name) of another program"
            if own.contains(guest.table.lowercased()) { problems.append("\(name) is on Cameo's table \(guest.table)") }
            if !guest.name.lowercased().hasPrefix(guestPrefix) {
                problems.append("\(name) has a name that a later version of Cameo may need")
            }
            guard guest.type == "table" else { continue }
            let targets = try String.fetchSet(
                db.sqlite,
                sql: "SELECT \"table\" FROM pragma_foreign_key_list(?)",
                arguments: [guest.name]
            )
            for target in targets.sorted() where own.contains(target.lowercased()) {
                problems.append("\(name) has a foreign key to Cameo's table \(target)")
            }
        }
        let tables = guests.filter { $0.type == "table" }.map(\.name)
        return CheckFinding(
            "guests",
            problems,
            ok: tables.isEmpty
                ? "no other program keeps tables here"
                : "other programs keep tables here: \(tables.joined(separator: ", "))",
            advice:
                "Begin such names with \(guestPrefix), and keep foreign keys, triggers and indexes on your own tables",
            severity: .warning
        )
    }
}
