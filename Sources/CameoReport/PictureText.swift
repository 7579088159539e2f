internal import CameoModel

/// What pictures turned out to be, as a person reads it.
enum PictureText {
    /// `4032x3024 JPEG`, with what is remarkable behind it: alpha, frames or pages, that it was cut off.
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

    /// `64x48 webp, alpha, 1234 bytes, #a1b2c3`; nil for a thumbnail that is not there yet.
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
