internal import CameoModel

/// Facts about sources and thumbnails, for people to read.
enum PictureText {
    /// `4032x3024 JPEG`, followed by what is unusual: alpha, several frames or pages, truncation. Nil for a thumbnail whose
    /// source is not known.
    static func source(of thumbnail: RequestedThumbnail) -> String? {
        guard let source = thumbnail.source else { return nil }
        var words = [
            "\(source.width)x\(source.height) \(PictureFormat(rawValue: source.format)?.name ?? source.format)"
        ]
        if source.hasAlpha { words.append("alpha") }
        if source.pages > 1 { words.append("\(source.pages) \(source.isAnimated ? "frames" : "pages")") }
        if thumbnail.truncated == true { words.append("truncated") }
        return words.joined(separator: ", ")
    }

    /// `64x48 webp, alpha, 1234 bytes, #a1b2c3`; nil for a thumbnail that does not exist yet.
    static func thumbnail(_ thumbnail: RequestedThumbnail) -> String? {
        guard let width = thumbnail.width, let height = thumbnail.height, let format = thumbnail.format else {
            return nil
        }
        var words = ["\(width)x\(height) \(format)"]
        if thumbnail.hasAlpha == true { words.append("alpha") }
        if let frames = thumbnail.frames, frames > 1 { words.append("\(frames) frames") }
        words.append("\(thumbnail.bytes ?? 0) bytes")
        if let color = thumbnail.dominantColor { words.append(color) }
        return words.joined(separator: ", ")
    }
}
