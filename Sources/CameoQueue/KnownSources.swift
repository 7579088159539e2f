package import CameoModel
package import CameoStore
internal import Foundation

/// Some sources with their thumbnails, in the order of their UTF-8.
package struct SourcePage: Sendable {
    /// A blob of a thumbnail.
    package struct Blob: Hashable, Sendable {
        package let digest: BlobDigest
        package let size: Int
        /// Whether its bytes are not in its row.
        package let isOutside: Bool
    }

    private var names: [String] = []
    /// The thumbnails of these sources, taken for intact.
    private var rows: [(source: ExactText, stored: StoredThumbnail, createdAt: Int64, blob: Blob)] = []
    /// The sources that name bytes of this store that it does not have.
    private var gone: Set<ExactText> = []
    private var next: String?
    /// On the first page only.
    private var newestVideoVersion: String?
    private let since: Int64?
    private let isOfNames: Bool

    package var blobs: Set<Blob> { Set(rows.map(\.blob)) }

    // A source may be too long for an entry of an index of PostgreSQL, which has the first 512 characters. Sorting by these
    // and then by the whole gives the order of the whole; the planner sorts only within equal beginnings.
    package init(
        _ selection: KnownSourceSelection,
        after cursor: String?,
        limit: Int,
        _ db: some QueueTransaction
    ) throws {
        (since, isOfNames) = (selection.since?.milliseconds, selection.isOfNames)
        let prefix = selection.prefix ?? ""
        // No source goes on with the last character of Unicode.
        let end = prefix + "\u{10FFFF}"
        let (order, beginnings) = (db.dialect.orderOfSources, db.dialect.rangeOfSources)
        let index = db.dialect.indexed(by: "thumbnail_source")
        names = try db.column(
            """
            SELECT source FROM thumbnail \(index)
            WHERE \(beginnings) source \(cursor == nil ? ">=" : ">") ?1 AND source < ?2
            GROUP BY \(order) ORDER BY \(order) LIMIT ?3
            """,
            [cursor ?? prefix, end, limit]
        )
        guard let first = names.first, let last = names.last else { return }
        next = names.count < limit ? nil : last
        if isOfNames { return }
        if cursor == nil {
            newestVideoVersion = try db.value(
                "SELECT renderer_version FROM thumbnail WHERE source_video IS NOT NULL ORDER BY updated_at DESC LIMIT 1"
            )
        }
        rows = try db.query(
            """
            SELECT source, id, rendition, renderer_version, thumbnail.created_at AS created_at, blob, size,
              data IS NULL AS is_outside
            FROM thumbnail \(index) JOIN blob ON blob.digest = thumbnail.blob
            WHERE \(beginnings) source BETWEEN ?1 AND ?2 ORDER BY \(order), id
            """,
            [first, last]
        )
        .map { row in
            let name: String = try row["id"]
            guard let id = ThumbnailID(name), let digest = BlobDigest(hex: try row["blob"] as String) else {
                throw StoreError.failed("thumbnail \(name) has a malformed row")
            }
            return (
                source: ExactText(try row["source"]),
                stored: (id, try row["rendition"], try row["renderer_version"], true),
                createdAt: try row["created_at"],
                blob: Blob(digest: digest, size: try row["size"], isOutside: try row["is_outside"])
            )
        }
        for name in names where try Self.isGone(name, db) { gone.insert(ExactText(name)) }
    }

    private static func isGone(_ source: String, _ db: some QueueTransaction) throws -> Bool {
        let look: (condition: String, name: String)? =
            switch CameoURI(source) {
            case .blob(let digest): ("blob WHERE digest = ?1", digest.hex)
            case .thumbnail(let id): ("thumbnail WHERE id = ?1", id.text)
            case .source(let uri): ("source WHERE \(db.dialect.sourceOfURI) AND scope = ''", uri)
            case nil: nil
            }
        guard let look else { return false }
        return try db.value("SELECT NOT EXISTS (SELECT 1 FROM \(look.condition))", [look.name]) ?? false
    }

    /// The page, of which some blobs have turned out to be damaged.
    package func page(damaged: Set<BlobDigest>) -> KnownSourcePage {
        var rows = rows
        for index in rows.indices { rows[index].stored.isIntact = !damaged.contains(rows[index].blob.digest) }
        var stored = Dictionary(grouping: rows, by: \.source)
        let sources = names.compactMap { name -> KnownSource? in
            let source = ExactText(name)
            // Rotten names may be read as one.
            guard let some = stored.removeValue(forKey: source) ?? (isOfNames ? [] : nil) else { return nil }
            if let since, some.contains(where: { $0.createdAt < since }) { return nil }
            return (source: name, isGone: gone.contains(source), thumbnails: some.map(\.stored))
        }
        return (sources: sources, next: next, newestVideoVersion: newestVideoVersion)
    }
}
