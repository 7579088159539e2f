package import CameoModel
package import CameoStore

// DESIGN. A repair fixes only what rows and bytes themselves prove to be wrong, while workers go on. A thumbnail whose bytes are
// gone is removed, so that the next request makes it again. But what is removed may be good: much that stands between a program
// and its bytes can answer in their place for a while. So only what two ways of reading find damaged is removed (``QueueStore/isLost(_:)``); a run that
// would remove much removes nothing; and what is removed stands aside for a week, with its bytes, and can be brought back.

/// How long what repairs have removed from the index stands aside, in milliseconds.
let setAsideAge: Int64 = 7 * 86_400_000

/// The age in seconds from which no process can still be about to name bytes.
package let settledAge = 3_600.0

/// What a repair removes of each kind, if that is more than a hundredth, unless it is told otherwise.
private let usuallyRemoved = 20

extension QueueStore {
    /// Why a repair does not remove what has damaged bytes; nil if it may. `most` is what an operator permits of each kind.
    package func objection(toRemoving damaged: [BlobDigest], upTo most: Int?) async throws(StoreError) -> CheckFinding?
    {
        let found = try await read { db in
            try [("thumbnail", "thumbnails"), ("source", "cached originals")].compactMap { table, name in
                let rows = "SELECT count(*) FROM \(table)"
                let lost = "\(rows) WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.digest = \(table).blob)"
                let damage = "(\(rows) WHERE blob \(db.dialect.isIn("?1", .texts))) + (\(lost))"
                let look = "SELECT \(damage) AS damaged, (\(rows)) AS whole"
                return try db.row(look, [damaged.map(\.hex)]).map {
                    (name: name, damaged: try $0["damaged"], all: try $0["whole"])
                }
            } as [(name: String, damaged: Int, all: Int)]
        }
        guard found.contains(where: { $0.damaged > most ?? max(usuallyRemoved, $0.all / 100) }) else { return nil }
        let counts = found.filter { $0.damaged > 0 }.map { "\($0.damaged) of \($0.all) \($0.name)" }
        let text = """
            \(counts.joined(separator: " and ")) would be removed, which have damaged bytes or none: more than \(usuallyRemoved) \
            and a hundredth, so nothing was removed. See first whether the disk or storage answers with other bytes than it \
            has; `--remove-up-to \(found.map(\.damaged).max() ?? 0)` permits it
            """
        return CheckFinding("blobs", .error, text)
    }

    /// Brings back what repairs have removed from the index in the last seven days, unless it was made again since.
    package func undoRepairs(in turn: MaintenanceTurn) async throws(StoreError) -> [CheckFinding] {
        defer { withExtendedLifetime(turn) {} }
        var (restored, made, refused, last) = (0, 0, 0, Int64.max as Int64?)
        while let before = last {
            let page = try await commit(.upkeep(turn)) { db in try db.bringBack(before: before) }
            (restored, made, refused) = (restored + page.restored, made + page.made, refused + page.refused)
            last = page.last
        }
        let again = made > 0 ? "; \(made) were made again since" : ""
        let text = "\(restored) thumbnails and cached originals brought back that a repair had removed\(again)"
        let malformed = refused > 0 ? [CheckFinding("blobs", .error, "\(refused) rows of set_aside are malformed")] : []
        return [CheckFinding("blobs", .mended, text)] + malformed
    }
}

extension QueueTransaction {
    /// Removes a damaged blob's thumbnails and cached originals, which can be made or fetched again, and sets them aside. The
    /// blob goes too if nothing referenced it. One that a program stored, or that a job needs by its digest, cannot be made
    /// again; its row stays, and with it the finding.
    package func removeDamaged(_ digest: BlobDigest) throws -> (thumbnails: Int, isGone: Bool) {
        var thumbnails = 0
        for (kind, names, condition) in [
            (RecordKind.source, "NULL, uri", "AND NOT pinned"), (.thumbnail, "id, source", ""),
        ] {
            let rows = "FROM \(kind.rawValue) WHERE blob = ?1 \(condition)"
            let selection = "SELECT \(names), blob, \(kind.json(dialect)), CAST(?2 AS bigint) \(rows)"
            try execute("INSERT INTO set_aside(thumbnail, source, blob, entry, at) \(selection)", [digest.hex, now])
            thumbnails = try execute("DELETE \(rows)", [digest.hex])
        }
        let blobs = try execute("DELETE FROM blob WHERE digest = ?1 AND \(isUnreferenced)", [digest.hex])
        return (thumbnails, blobs == 1)
    }

    /// Brings back a page of what was set aside, the last removed first. Rows that are refused stay. `last` is where the next
    /// page begins; nil after the last one.
    fileprivate func bringBack(before: Int64) throws -> (restored: Int, made: Int, refused: Int, last: Int64?) {
        let page = "SELECT id, thumbnail, entry FROM set_aside WHERE id < ?1 ORDER BY id DESC LIMIT 500"
        let rows = try query(page, [before]).map {
            try ($0["id"], $0["thumbnail"], $0["entry"]) as (Int64, String?, String)
        }
        var (restored, refused) = (0, 0)
        for (id, thumbnail, entry) in rows {
            let insertion = (thumbnail == nil ? RecordKind.source : .thumbnail).insertionOfJSON(dialect)
            do {
                restored += try inSavepoint { try execute(insertion, [entry]) }
                try execute("DELETE FROM set_aside WHERE id = ?1", [id])
            } catch {
                guard objection(error) != nil else { throw error }
                refused += 1
            }
        }
        return (restored, rows.count - restored - refused, refused, rows.last?.0)
    }
}

extension RecordKind {
    /// The columns of a row that is set aside. The last is one that records do not have.
    private var columns: [String] { fields.map(\.name) + (self == .thumbnail ? ["source_omitted"] : []) }

    fileprivate func json(_ dialect: any Dialect) -> String { dialect.json(of: rawValue, columns) }

    /// Inserts a row from JSON, `?1`, unless there is one with its key.
    fileprivate func insertionOfJSON(_ dialect: any Dialect) -> String {
        """
        INSERT INTO \(rawValue)(\(columns.joined(separator: ", "))) SELECT \(dialect.row(of: rawValue, columns))
        ON CONFLICT DO NOTHING
        """
    }
}
