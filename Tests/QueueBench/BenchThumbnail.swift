import CameoModel
import CameoStore
import Foundation

/// A thumbnail of a number of bytes, for any job.
struct BenchThumbnail: Sendable {
    let bytes: Int

    /// What a renderer could have made for a job; each time other bytes.
    func product(of job: ClaimedJob) throws -> JobProduct {
        let request = try job.parsedRequest()
        var picture = Data("RIFF____WEBPVP8 ".utf8)
        var words = SystemRandomNumberGenerator()
        while picture.count < bytes { withUnsafeBytes(of: words.next()) { picture.append(contentsOf: $0) } }
        let encoded = EncodedRendition(
            bytes: picture.prefix(bytes),
            width: 256,
            height: 256,
            format: .webp,
            hasAlpha: false,
            frames: 1,
            placeholder: Placeholder(
                thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
                blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
                dominantColor: Color(red: 1, green: 2, blue: 3, alpha: 255)
            )
        )
        let rendered = zip(try request.thumbnailIDs(), request.renditions)
            .map { RenderedThumbnail(id: $0, rendition: $1, encoded: encoded) }
        let provenance = Provenance(
            source: try SourceIdentity(of: request.source),
            sourceDigest: BlobDigest(of: Data(request.source.utf8)),
            sourceSeen: job.begun.sourceSeen,
            rendererVersion: "bench",
            picture: PictureFacts(format: .jpeg, width: 4_000, height: 3_000, pages: 1, hasAlpha: false),
            isTruncated: false
        )
        return .rendered(rendered, provenance)
    }
}
