package import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// Rows of the table `thumbnail`, written inside the transaction that completes their job.
extension PostgreSQLTransaction {
    /// Stores thumbnails (invariant I4). An older fetch never replaces a newer one's thumbnail. Of those in `same` the
    /// existing blob is kept: the renditions that shared the decode may change a few pixel values, and a URI's bytes
    /// should not flicker. They are written with those of other jobs.
    func store(
        _ thumbnails: [PreparedThumbnail],
        renewing same: Set<ThumbnailID>,
        from provenance: Provenance,
        jobID: Int64
    ) throws {
        for (thumbnail, blob) in thumbnails {
            let id = thumbnail.id.text
            guard !same.contains(thumbnail.id) else {
                let renewal = """
                    UPDATE thumbnail SET source_seen = greatest(source_seen, $1), job_id = $2, updated_at = $3 WHERE id = $4
                    """
                store(renewal, [provenance.sourceSeen, jobID, now, id], in: thumbnail.id)
                continue
            }
            unwritten.blobs[blob.digest.hex] = .init(
                Self.insertion,
                [blob.digest.hex, blob.size, blob.data, blob.mediaType, now, now - Self.youth],
                prepared: true
            )
            let values = try thumbnail.values(blob.digest, from: provenance, jobID: jobID, now: now)
            store(Self.upsertion, values, in: thumbnail.id)
            unwritten.named.append((id, blob.digest.hex))
        }
    }

    /// Records a statement that changes a thumbnail.
    func store(_ sql: String, _ values: [(any SQLBindable)?], in thumbnail: ThumbnailID) {
        unwritten.thumbnails[thumbnail.text, default: []].append(.init(sql, values, prepared: true))
    }

    /// Whether thumbnails are recorded that were not written yet.
    func isStoring(_ thumbnails: some Sequence<ThumbnailID>) -> Bool {
        thumbnails.contains { unwritten.thumbnails[$0.text] != nil }
    }

    package func noteUse(of thumbnails: [ThumbnailID]) throws { unwritten.used.formUnion(thumbnails.map(\.text)) }

    /// How long a row counts as just made, in milliseconds: much shorter than unreferenced blobs are kept.
    private static let youth: Int64 = 600_000

    /// Inserts a blob's row or makes it young. One that is young and whole is only kept from being removed, so that jobs
    /// with equal pictures do not wait for each other's commits.
    private static let insertion = """
        WITH young AS (
          SELECT 1 FROM blob WHERE digest = $1 AND created_at > $6 AND size = $2 AND data IS NOT DISTINCT FROM $3
          FOR KEY SHARE)
        INSERT INTO blob(digest, size, data, media_type, created_at)
        SELECT $1, $2, $3, $4::text, $5::bigint WHERE NOT EXISTS (SELECT 1 FROM young)
        ON CONFLICT (digest) DO UPDATE SET data = excluded.data, created_at = excluded.created_at
        """

    private static let upsertion = numbered(RenderedThumbnail.upsertion)

    static let lookForSame = """
        SELECT same.id, same.blob, (SELECT blob.data FROM blob WHERE blob.digest = same.blob) AS data
        FROM unnest($1::text[], $2::text[]) AS made(id, overlay) CROSS JOIN LATERAL (
          SELECT thumbnail.id, thumbnail.blob FROM thumbnail
          WHERE thumbnail.id = made.id AND source_digest = $3
            AND overlay_digest IS NOT DISTINCT FROM made.overlay AND renderer_version = $4
          LIMIT 1) AS same
        """

    /// Existing thumbnails of the same source and overlay bytes by the same renderer, whose blobs are kept if they are
    /// undamaged (invariant I4). `checked` tells whether blobs in the storage of large ones are sound, as far as it was found
    /// out.
    ///
    /// - Returns: those whose bytes match their digests, and the blobs whose bytes have to be read from their storage first.
    func same(
        as made: [RenderedThumbnail],
        _ provenance: Provenance,
        _ checked: [BlobDigest: Bool]
    ) throws -> (sound: Set<ThumbnailID>, unknown: [BlobDigest]) {
        let ids = SQLArray(made.map(\.id.text))
        let overlays = SQLArray(made.map { $0.overlayDigest?.hex })
        let values: [(any SQLBindable)?] = [ids, overlays, provenance.sourceDigest.hex, provenance.rendererVersion]
        var (sound, unknown) = (Set<ThumbnailID>(), [BlobDigest]())
        for row in try query(Self.lookForSame, values, prepared: true) {
            let (name, hex): (String, String) = (try row["id"], try row["blob"])
            guard let id = ThumbnailID(name), let digest = BlobDigest(hex: hex) else { continue }
            let data: Data? = try row["data"]
            switch data.map({ BlobDigest(of: $0) == digest }) ?? checked[digest] {
            case true?: sound.insert(id)
            case false?: break
            case nil: unknown.append(digest)
            }
        }
        return (sound, unknown)
    }
}
