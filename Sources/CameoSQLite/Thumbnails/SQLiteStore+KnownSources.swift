internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func knownSources(
        _ selection: KnownSourceSelection,
        after cursor: String?,
        limit: Int
    ) async throws(StoreError) -> KnownSourcePage {
        let page = try await read { db in try Self.sources(selection, after: cursor, limit: limit, db) }
        let damaged = try await damagedBlobs(Set(page.rows.map(\.blob)), verifying: selection.verifiesBytes)
        var (sources, start) = ([KnownSource](), page.rows.startIndex)
        while start < page.rows.endIndex {
            let source = page.rows[start].source
            let end = page.rows[start...].firstIndex { $0.source != source } ?? page.rows.endIndex
            let rows = page.rows[start..<end]
            start = end
            if let since = selection.since?.milliseconds, rows.contains(where: { $0.createdAt < since }) { continue }
            sources.append(
                KnownSource(
                    source: source.text,
                    isGone: page.gone.contains(source),
                    thumbnails: rows.map { row in
                        KnownSource.StoredThumbnail(
                            id: row.id,
                            rendition: row.rendition,
                            rendererVersion: row.rendererVersion,
                            isIntact: !damaged.contains(row.blob.digest)
                        )
                    }
                )
            )
        }
        return KnownSourcePage(sources: sources, next: page.next, newestVideoVersion: page.newestVideoVersion)
    }

    private struct SourcePage: Sendable {
        var rows: [SourceRow] = []
        var gone: Set<ExactText> = []
        var next: String?
        var newestVideoVersion: String?
    }

    private struct SourceRow: Sendable {
        let source: ExactText
        let id: ThumbnailID
        let rendition: String
        let rendererVersion: String
        let createdAt: Int64
        let blob: StoredBlob
    }

    private struct StoredBlob: Hashable, Sendable {
        let digest: BlobDigest
        let size: Int
        let isInFile: Bool
    }

    private static func sources(
        _ selection: KnownSourceSelection,
        after cursor: String?,
        limit: Int,
        _ db: SQLiteTransaction
    ) throws -> SourcePage {
        let prefix = selection.prefix ?? ""
        // No source goes on with the last character of Unicode.
        let end = prefix + "\u{10FFFF}"
        let names = try String.fetchAll(
            db.sqlite,
            sql: """
                SELECT DISTINCT source FROM thumbnail INDEXED BY thumbnail_source
                WHERE source \(cursor == nil ? ">=" : ">") ? AND source < ? ORDER BY source LIMIT ?
                """,
            arguments: [cursor ?? prefix, end, limit]
        )
        guard let first = names.first, let last = names.last else { return SourcePage() }
        let statement = try db.cachedStatement(
            sql: """
                SELECT source, id, rendition, renderer_version, thumbnail.created_at, blob, size, data IS NULL
                FROM thumbnail INDEXED BY thumbnail_source CROSS JOIN blob ON blob.digest = thumbnail.blob
                WHERE source BETWEEN ? AND ? ORDER BY source
                """
        )
        var page = SourcePage()
        if cursor == nil {
            page.newestVideoVersion = try String.fetchOne(
                db.sqlite,
                sql: """
                    SELECT renderer_version FROM thumbnail WHERE source_video IS NOT NULL ORDER BY updated_at DESC LIMIT 1
                    """
            )
        }
        page.next = names.count < limit ? nil : last
        let rows = try Row.fetchCursor(statement, arguments: [first, last])
        while let row = try rows.next() {
            guard let id = ThumbnailID(row[1] as String), let digest = BlobDigest(hex: row[5] as String) else {
                throw StoreError.failed("thumbnail \(row[1] as String) has a malformed row")
            }
            page.rows.append(
                SourceRow(
                    source: ExactText(row[0]),
                    id: id,
                    rendition: row[2],
                    rendererVersion: row[3],
                    createdAt: row[4],
                    blob: StoredBlob(digest: digest, size: row[6], isInFile: row[7])
                )
            )
        }
        for name in names where try isGone(name, db) { page.gone.insert(ExactText(name)) }
        return page
    }

    /// Whether a source names bytes of this store that it does not have.
    private static func isGone(_ source: String, _ db: SQLiteTransaction) throws -> Bool {
        let (sql, name) =
            switch CameoURI(source) {
            case .blob(let digest): ("SELECT 1 FROM blob WHERE digest = ?", digest.hex)
            case .thumbnail(let id): ("SELECT 1 FROM thumbnail WHERE id = ?", id.text)
            case .source(let uri): ("SELECT 1 FROM source WHERE uri = ? AND scope = ''", uri)
            case nil: ("", "")
            }
        guard !sql.isEmpty else { return false }
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [name]) == nil
    }

    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    private func damagedBlobs(_ blobs: Set<StoredBlob>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
        guard verifying else {
            let inFiles = blobs.filter(\.isInFile)
            guard !inFiles.isEmpty else { return [] }
            return try await files.perform { directory in
                Set(
                    inFiles.filter { blob in
                        var status = stat()
                        return stat(directory.blobFile(blob.digest), &status) != 0 || Int(status.st_size) != blob.size
                    }
                    .map(\.digest)
                )
            }
        }
        var damaged: Set<BlobDigest> = []
        for blob in blobs where try await !isWhole(blob.digest) { damaged.insert(blob.digest) }
        return damaged
    }
}
