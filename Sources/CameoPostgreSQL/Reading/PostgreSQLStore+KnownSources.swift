internal import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. A source may be too long for an entry of an index, so that the index has the first 512 characters. Sorting by
// these and then by the whole gives the order of the whole; the planner sorts only within equal beginnings.
extension PostgreSQLStore {
    package func knownSources(
        _ selection: KnownSourceSelection,
        after cursor: String?,
        limit: Int
    ) async throws(StoreError) -> KnownSourcePage {
        let page = try await read { db in try SourcePage(selection, after: cursor, limit: limit, db) }
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
                            isIntact: !damaged.contains(row.blob)
                        )
                    }
                )
            )
        }
        return KnownSourcePage(sources: sources, next: page.next, newestVideoVersion: page.newestVideoVersion)
    }

    /// Whether a blob's bytes are there, unverified.
    private func isPresent(_ digest: BlobDigest) async throws(StoreError) -> Bool {
        let outside = try await read { db in
            try db.value("SELECT size FROM blob WHERE digest = $1 AND data IS NULL", [digest.hex]) as Int?
        }
        guard let size = outside, let storage else { return outside == nil }
        do throws(StoreError) {
            return try await storage.data(of: digest, range: 0..<min(1, size), size: size).count == min(1, size)
        } catch {
            switch error {
            case .notFound, .damagedBlob: return false
            default: throw error
            }
        }
    }

    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    private func damagedBlobs(_ blobs: Set<BlobDigest>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
        var damaged: Set<BlobDigest> = []
        for blob in blobs {
            let isWhole = verifying ? try await self.isWhole(blob) : try await isPresent(blob)
            if !isWhole { damaged.insert(blob) }
        }
        return damaged
    }
}
