internal import CameoModel
internal import Foundation

/// What is shown in a thumbnail's place: a few hundred bytes.
struct PlaceholderPicture: Sendable {
    let mediaType: String
    let bytes: [UInt8]

    /// Neither light nor dark.
    private static let neutral = "#a8a8a8"

    /// Of a picture that nothing is known of but the room that it takes.
    init(box: PendingThumbnail.Box) {
        self.init(box, color: Self.neutral)
    }

    /// As its ThumbHash remembers it; its main colour, if that cannot be read.
    init(of thumbnail: Thumbnail) {
        let placeholder = thumbnail.facts.placeholder
        if let hash = Data(base64Encoded: placeholder.thumbHash).flatMap({ ThumbHash(Array($0)) }) {
            self.init(
                mediaType: "image/png",
                bytes: PlainPNG.encode(hash.pixels(), width: hash.width, height: hash.height)
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
