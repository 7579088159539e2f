internal import CameoModel
package import CameoStore

extension QueueTransaction {
    /// Notes that an import has begun, and returns whether that was noted before (``ExportableStore``).
    ///
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if the store at `location` has other records, or a living worker.
    package func beginImport(of mark: String, isAddition: Bool, at location: String) throws -> Bool {
        let live = try workers(only: nil).filter(\.isAlive).map(\.id).sorted()
        guard live.isEmpty else {
            throw StoreError.cannotOpen(path: location, reason: ImportRefusal.workers(live))
        }
        let find = "SELECT EXISTS (SELECT 1 FROM epoch WHERE name = ?1)"
        if try value(find, [ImportRefusal.epoch(mark)]) == true { return true }
        let full = RecordKind.ofANewStore.map { "EXISTS (SELECT 1 FROM \($0.rawValue))" }.joined(separator: " OR ")
        guard try isAddition || (value("SELECT \(full)") == false && !hasArrivals()) else {
            throw StoreError.cannotOpen(path: location, reason: ImportRefusal.records)
        }
        try execute("INSERT INTO epoch(name, since) VALUES (?1, ?2)", [ImportRefusal.epoch(mark), now])
        return false
    }

    /// Forgets an import.
    package func forgetImport(of mark: String) throws {
        try execute("DELETE FROM epoch WHERE name = ?1", [ImportRefusal.epoch(mark)])
    }

    /// Those of the blobs that the store does not have.
    package func unknown(_ blobs: [StoreRecord]) throws -> [StoreRecord] {
        let known: [String] = try column(
            "SELECT digest FROM blob WHERE digest \(dialect.isIn("?1", .texts))",
            [try blobs.map { try $0.digest.hex }]
        )
        let set = Set(known)
        return try blobs.filter { try !set.contains($0.digest.hex) }
    }
}

extension RecordKind {
    /// What an insertion does about a row that is there: it stays, unless it is one that the tables begin with.
    package var replacement: String {
        guard [.queueCount, .epoch, .total].contains(self) else { return "ON CONFLICT DO NOTHING" }
        let changes = fields.dropFirst().map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
        return "ON CONFLICT (\(fields[0].name)) DO UPDATE SET \(changes)"
    }
}
