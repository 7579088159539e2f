internal import GRDB

extension Store {
    /// Begins the names of what other programs keep in the file: no version of Cameo has a table, index, trigger or view
    /// that is named so.
    private static let guestPrefix = "app_"

    /// Whether all that is Cameo's own is there.
    static func ownTables(_ db: Database) throws -> CheckFinding {
        let names = try String.fetchSet(db, sql: "SELECT name FROM sqlite_schema")
        return CheckFinding(
            "schema",
            try Schema.ownNames().subtracting(names).sorted().map { "\($0) is missing" },
            ok: "all tables, indexes, triggers and views of version \(Schema.currentVersion) are there",
            mend: "Another program dropped it. Restore a backup"
        )
    }

    /// Whether what other programs keep in the file leaves Cameo's rows alone. Their triggers on Cameo's tables would run
    /// inside of Cameo's transactions, and their references would forbid it to remove a job.
    static func guests(_ db: Database) throws -> CheckFinding {
        let own = try Schema.ownNames()
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT type, name, tbl_name FROM sqlite_schema WHERE \(Schema.namedByPrograms) ORDER BY name"
        )
        let guests = rows.map {
            (type: $0["type"] as String, name: $0["name"] as String, table: $0["tbl_name"] as String)
        }
        .filter { !own.contains($0.name) }
        var problems: [String] = []
        for guest in guests {
            let name = "the \(guest.type) \(guest.name) of another program"
            if own.contains(guest.table) { problems.append("\(name) is on Cameo's table \(guest.table)") }
            if !guest.name.hasPrefix(guestPrefix) {
                problems.append("\(name) has a name that a later version of Cameo may need")
            }
            guard guest.type == "table" else { continue }
            let targets = try String.fetchSet(
                db,
                sql: "SELECT \"table\" FROM pragma_foreign_key_list(?)",
                arguments: [guest.name]
            )
            problems += targets.intersection(own).sorted().map { "\(name) has a foreign key to Cameo's table \($0)" }
        }
        let tables = guests.filter { $0.type == "table" }.map(\.name)
        return CheckFinding(
            "guests",
            problems,
            ok: tables.isEmpty
                ? "no other program keeps tables here"
                : "tables of other programs stand beside Cameo's: \(tables.joined(separator: ", "))",
            mend:
                "Such names begin with \(guestPrefix), and foreign keys, triggers and indexes are on tables of one's own",
            severity: .warning
        )
    }
}
