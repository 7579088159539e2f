internal import CameoModel
internal import Foundation

/// A picture of at most a few kilobytes, shown in place of a thumbnail.
struct PlaceholderPicture: Sendable {
    let mediaType: String
    let bytes: [UInt8]

    /// A mid grey, neither light nor dark.
    private static let neutral = "#a8a8a8"

    /// Makes a grey box for a picture of which only the size is known.
    init(box: PendingThumbnail.Box) {
        self.init(box, color: Self.neutral)
    }

    /// Draws the thumbnail's ThumbHash, or a box of its dominant colour if the hash cannot be decoded.
    init(of thumbnail: Thumbnail) {
        let placeholder = thumbnail.facts.placeholder
        if let hash = Data(base64Encoded: placeholder.thumbHash).flatMap({ ThumbHash(Array($0)) }) {
            self.init(
                mediaType: "image/png",
                bytes: Array(PNGFile.picture(hash.pixels(), width: hash.width, height: hash.height))
            )
        } else {
            let box = PendingThumbnail.Box(width: thumbnail.width, height: thumbnail.height)
            self.init(box, color: placeholder.dominantColorText)
        }
    }

    private init(_ box: PendingThumbnail.Box, color: String) {
        let size = "width=\"\(box.width)\" height=\"\(box.height)\""
        let text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \(size)><rect width=\"100%\" height=\"100%\" fill=\"\(color)\"/></svg>"
        self.init(mediaType: "image/svg+xml", bytes: Array(text.utf8))
    }

    private init(mediaType: String, bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = bytes
    }
}
