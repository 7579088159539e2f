internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// Some sources with their thumbnails, in the order of their UTF-8.
struct SourcePage: Sendable {
    struct Thumbnail: Sendable {
        let source: ExactText
        let id: ThumbnailID
        let rendition: String
        let rendererVersion: String
        let createdAt: Int64
        let blob: BlobDigest

        fileprivate init(_ row: Row) throws {
            let (name, hex) = try (row[1] as String, row[5] as String)
            guard let id = ThumbnailID(name), let blob = BlobDigest(hex: hex) else {
                throw StoreError.failed("thumbnail \(name) has a malformed row")
            }
            source = ExactText(try row[0])
            (self.id, self.blob) = (id, blob)
            rendition = try row[2]
            rendererVersion = try row[3]
            createdAt = try row[4]
        }
    }

    /// The thumbnails of the page's sources, those of one source together.
    private(set) var rows: [Thumbnail] = []
    /// The sources that name bytes of this store that it does not have.
    private(set) var gone: Set<ExactText> = []
    private(set) var next: String?
    /// On the first page only.
    private(set) var newestVideoVersion: String?

    init(_ selection: KnownSourceSelection, after cursor: String?, limit: Int, _ db: Database) throws {
        let prefix = selection.prefix ?? ""
        // No source goes on with the last character of Unicode.
        let end = prefix + "\u{10FFFF}"
        let names: [String] = try db.column(
            """
            SELECT source FROM thumbnail
            WHERE left(source, 512) >= left($1::text, 512) AND source \(cursor == nil ? ">=" : ">") $1
              AND left(source, 512) <= left($2::text, 512) AND source < $2
            GROUP BY left(source, 512), source ORDER BY left(source, 512), source LIMIT $3
            """,
            [cursor ?? prefix, end, limit]
        )
        guard let first = names.first, let last = names.last else { return }
        if cursor == nil {
            newestVideoVersion = try db.value(
                "SELECT renderer_version FROM thumbnail WHERE source_video IS NOT NULL ORDER BY updated_at DESC LIMIT 1"
            )
        }
        next = names.count < limit ? nil : last
        rows = try db.query(
            """
            SELECT source, id, rendition, renderer_version, created_at, blob FROM thumbnail
            WHERE left(source, 512) BETWEEN left($1::text, 512) AND left($2::text, 512) AND source BETWEEN $1 AND $2
            ORDER BY left(source, 512), source, id
            """,
            [first, last]
        )
        .map(Thumbnail.init)
        for name in names where try Self.isGone(name, db) { gone.insert(ExactText(name)) }
    }

    private static func isGone(_ source: String, _ db: Database) throws -> Bool {
        let look: (condition: String, name: String)? =
            switch CameoURI(source) {
            case .blob(let digest): ("blob WHERE digest = $1", digest.hex)
            case .thumbnail(let id): ("thumbnail WHERE id = $1", id.text)
            case .source(let uri): ("source WHERE \(SourceRows.ofURI) AND scope = ''", uri)
            case nil: nil
            }
        guard let look else { return false }
        return try db.value("SELECT NOT EXISTS (SELECT 1 FROM \(look.condition))", [look.name]) ?? false
    }
}
