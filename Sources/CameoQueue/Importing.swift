internal import CameoModel
package import CameoStore
internal import Foundation

/// What exports and imports of all engines have in common.
extension QueueTransaction {
    /// Reads all records (``ExportableStore/export(includingBytes:_:)``). `addBytes` adds those of some blobs, of so many at a
    /// time; nil: they come without.
    package func export(
        _ emit: (RecordKind, [StoreRecord]) throws -> Void,
        blobsAtATime: Int,
        addBytes: (([StoreRecord]) throws -> [StoreRecord])?
    ) throws {
        for kind in RecordKind.allCases {
            var last: StoreRecord?
            while case let page = try records(of: kind, after: last, limit: kind.pageLength), let end = page.last {
                last = end
                guard let addBytes, kind == .blob else {
                    try emit(kind, page)
                    continue
                }
                for start in stride(from: 0, to: page.count, by: blobsAtATime) {
                    try emit(kind, try addBytes(Array(page[start..<min(start + blobsAtATime, page.count)])))
                }
            }
        }
    }

    /// Notes that an import has begun, and returns whether that was noted before (``ExportableStore``).
    ///
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if the store at `location` has other records, or a living worker.
    package func beginImport(of mark: String, isAddition: Bool, at location: String) throws -> Bool {
        let live = try workers(only: nil).filter(\.isAlive).map(\.id).sorted()
        guard live.isEmpty else {
            let ids = live.joined(separator: " ")
            let reason = "workers are alive (\(ids)); stop them with `cameo-admin worker stop --all`"
            throw StoreError.cannotOpen(path: location, reason: reason)
        }
        let find = "SELECT EXISTS (SELECT 1 FROM epoch WHERE name = ?1)"
        if try value(find, ["import of \(mark)"]) == true { return true }
        let full = RecordKind.ofANewStore.map { "EXISTS (SELECT 1 FROM \($0.rawValue))" }.joined(separator: " OR ")
        guard try isAddition || (value("SELECT \(full)") == false && !hasArrivals()) else {
            let reason =
                "it has jobs or pictures of its own; import into a new store, or give --add to add what is not there"
            throw StoreError.cannotOpen(path: location, reason: reason)
        }
        try execute("INSERT INTO epoch(name, since) VALUES (?1, ?2)", ["import of \(mark)", now])
        return false
    }

    package func forgetImport(of mark: String) throws {
        // An earlier version's export has no promises.
        try execute(
            """
            INSERT INTO promise(job_id, thumbnail)
            SELECT job, thumbnail FROM (\(dialect.askedThumbnails)) AS asked JOIN task ON task.id = job WHERE true
            ON CONFLICT DO NOTHING
            """
        )
        // A job that was there may have ended since the export was made.
        _ = try removeEmptyPromises()
        // What was forgotten since an export was made stays so.
        try execute(
            """
            DELETE FROM thumbnail WHERE EXISTS (
              SELECT 1 FROM forgotten JOIN forget ON forget.seen = forgotten.seen
              WHERE forgotten.name = thumbnail.id AND thumbnail.updated_at < forget.at)
            """
        )
        try execute("DELETE FROM epoch WHERE name = ?1", ["import of \(mark)"])
    }

    /// Those of the blobs that the store does not have.
    package func unknown(_ blobs: [StoreRecord]) throws -> [StoreRecord] {
        let look = "SELECT digest FROM blob WHERE digest \(dialect.isIn("?1", .texts))"
        let known: Set<String> = try Set(column(look, [try blobs.map { try $0.digest.hex }]))
        return try blobs.filter { try !known.contains($0.digest.hex) }
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

extension StoreValue {
    /// Reads a field of a record. JSON comes from SQLite as bytes, because text that is not UTF-8 would come repaired, as a
    /// different request.
    package init(_ row: QueueRow, _ index: Int, _ kind: RecordField.Kind, _ dialect: any Dialect) throws {
        let value: StoreValue? =
            switch kind {
            case .integer: try row.integer(index).map(StoreValue.integer)
            case .truth: try (row[index] as Bool?).map { .integer($0 ? 1 : 0) }
            case .real: try (row[index] as Double?).map(StoreValue.real)
            case .json where dialect.refusalOfOtherBytes == nil:
                try (row[index] as Data?).map {
                    String(validating: $0, as: UTF8.self).map(StoreValue.text) ?? .bytes($0)
                }
            case .text, .json: try (row[index] as String?).map(StoreValue.text)
            case .bytes: try (row[index] as Data?).map(StoreValue.bytes)
            }
        self = value ?? .null
    }

    /// The parameter of a statement that stores a field.
    package func parameter(of field: RecordField, _ dialect: any Dialect) throws -> (any SQLBindable)? {
        switch (self, field.kind) {
        case (.null, _): nil
        case (.integer(let number), .truth): number == 1
        case (.integer(let number), .real): Double(number)
        case (.integer(let number), _): number
        case (.real(let number), _): number
        case (.text(let text), _): text
        case (.bytes(let data), let kind):
            if kind != .bytes, let refusal = dialect.refusalOfOtherBytes {
                throw StoreError.refused(reason: "\(refusal), which its \(field.name) is not")
            } else {
                data
            }
        }
    }
}
