internal import CameoModel
internal import CameoRenderMessages
internal import Foundation

/// What a believable picture for a job looks like.
struct ReplyExpectation {
    private let formats: [Rendition.Format]
    private let maximumOutputBytes: Int

    /// Nothing but a hello or a refusal is believable.
    static let noPicture = ReplyExpectation(renditions: [], maximumOutputBytes: 0)

    init(renditions: [Rendition], maximumOutputBytes: Int) {
        formats = renditions.map { $0.format == .auto ? .webp : $0.format }
        self.maximumOutputBytes = maximumOutputBytes
    }

    func check(_ picture: PictureMessage) throws(MalformedMessage) {
        guard !formats.isEmpty else { throw MalformedMessage("a picture came that nobody asked for") }
        guard picture.renditions.map(\.format) == formats else {
            throw MalformedMessage("the renditions are not those asked for")
        }
        for rendition in picture.renditions where rendition.byteCount > maximumOutputBytes {
            throw MalformedMessage(
                "a rendition of \(rendition.byteCount) bytes is over the limit of \(maximumOutputBytes)"
            )
        }
    }

    func check(_ bytes: Data, of rendition: PictureMessage.Announcement) throws(MalformedMessage) {
        let start = Array(bytes.prefix(16))
        let fits =
            switch rendition.format {
            case .jpeg: start.starts(with: [0xFF, 0xD8, 0xFF])
            case .png: start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            case .webp: start.starts(with: Array("RIFF".utf8)) && start.dropFirst(8).starts(with: Array("WEBP".utf8))
            case .avif: start.dropFirst(4).starts(with: Array("ftypavif".utf8))
            case .auto: false
            }
        guard fits else { throw MalformedMessage("the bytes of a rendition are not \(rendition.format.rawValue)") }
    }
}
