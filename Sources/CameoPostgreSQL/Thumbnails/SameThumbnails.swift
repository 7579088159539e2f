internal import CameoModel
internal import CameoStore
internal import Foundation

/// Existing thumbnails of the same source and overlay bytes by the same renderer, whose blobs are kept if they are
/// undamaged (invariant I4).
struct SameThumbnails {
    /// Those whose bytes match their digests.
    private(set) var sound: Set<ThumbnailID> = []
    /// Blobs whose bytes have to be read from their storage first.
    private(set) var unknown: [BlobDigest] = []

    /// `checked` tells whether blobs in the storage of large ones are sound, as far as it was found out.
    init(
        _ made: [RenderedThumbnail],
        _ provenance: Provenance,
        _ checked: [BlobDigest: Bool],
        _ db: Database
    ) throws {
        let rows = try db.query(
            """
            SELECT thumbnail.id, blob.digest, blob.data
            FROM unnest($1::text[], $2::text[]) AS made(id, overlay)
              JOIN thumbnail ON thumbnail.id = made.id JOIN blob ON blob.digest = thumbnail.blob
            WHERE source_digest = $3 AND overlay_digest IS NOT DISTINCT FROM made.overlay AND renderer_version = $4
            """,
            [
                SQLArray(made.map(\.id.text)), SQLArray(made.map { $0.overlayDigest?.hex }),
                provenance.sourceDigest.hex, provenance.rendererVersion,
            ]
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
