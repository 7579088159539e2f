internal import CameoModel
internal import CameoQueue
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

    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    private func damagedBlobs(_ blobs: Set<BlobDigest>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
        var damaged: Set<BlobDigest> = []
        if verifying {
            for blob in blobs where try await !isWhole(blob) { damaged.insert(blob) }
        } else if let storage {
            for blob in try await outside(blobs) where try await !Self.has(blob.digest, blob.size, storage) {
                damaged.insert(blob.digest)
            }
        }
        return damaged
    }

    /// Those of the blobs whose bytes are not in their rows.
    private func outside(_ blobs: Set<BlobDigest>) async throws(StoreError) -> [(digest: BlobDigest, size: Int)] {
        let rows = try await read { db in
            try db.query(
                "SELECT digest, size FROM blob WHERE digest = ANY($1::text[]) AND data IS NULL",
                [SQLArray(blobs.map(\.hex))]
            )
            .map { try (hex: $0[0] as String, size: $0[1] as Int) }
        }
        return rows.compactMap { row in BlobDigest(hex: row.hex).map { ($0, row.size) } }
    }

    /// Whether a storage has the bytes, of which it is asked for one.
    private static func has(
        _ digest: BlobDigest,
        _ size: Int,
        _ storage: any ByteStorage
    ) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try await storage.data(of: digest, range: 0..<min(1, size), size: size).count == min(1, size)
        } catch {
            switch error {
            case .notFound, .damagedBlob: return false
            default: throw error
            }
        }
    }
}
