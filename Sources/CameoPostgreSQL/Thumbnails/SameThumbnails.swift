internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// Existing thumbnails of the same source and overlay bytes by the same renderer, whose blobs are kept if they are
/// undamaged (invariant I4).
struct SameThumbnails {
    /// Those whose bytes match their digests.
    private(set) var sound: Set<ThumbnailID> = []
    /// Blobs whose bytes have to be read from their storage first.
    private(set) var unknown: [BlobDigest] = []

    static let look = """
        SELECT same.id, same.blob, (SELECT blob.data FROM blob WHERE blob.digest = same.blob)
        FROM unnest($1::text[], $2::text[]) AS made(id, overlay) CROSS JOIN LATERAL (
          SELECT thumbnail.id, thumbnail.blob FROM thumbnail
          WHERE thumbnail.id = made.id AND source_digest = $3
            AND overlay_digest IS NOT DISTINCT FROM made.overlay AND renderer_version = $4
          LIMIT 1) AS same
        """

    /// `checked` tells whether blobs in the storage of large ones are sound, as far as it was found out.
    init(
        _ made: [RenderedThumbnail],
        _ provenance: Provenance,
        _ checked: [BlobDigest: Bool],
        _ db: PostgreSQLTransaction
    ) throws {
        let rows = try db.query(
            Self.look,
            [
                SQLArray(made.map(\.id.text)), SQLArray(made.map { $0.overlayDigest?.hex }),
                provenance.sourceDigest.hex, provenance.rendererVersion,
            ],
            prepared: true
        )
        for row in rows {
            let (name, hex): (String, String) = (try row[0], try row[1])
            guard let id = ThumbnailID(name), let digest = BlobDigest(hex: hex) else { continue }
            let data: Data? = try row[2]
            switch data.map({ SHA256.digest(of: $0) == digest }) ?? checked[digest] {
            case true?: sound.insert(id)
            case false?: break
            case nil: unknown.append(digest)
            }
        }
    }
}
