internal import CameoModel
internal import Foundation

/// Pictures in `data:` URIs of an SVG drawing. librsvg reads PNG and JPEG alone, and leaves out others without a word: they
/// are decoded here, by the same rules as any source, and replaced.
struct EmbeddedPictures {
    private var rules: SourceRules
    /// How many may still be decoded, and the bytes that they may take.
    private var left = 100, bytes: Int

    /// How deep they may lie in drawings within drawings.
    private static let depth = 3
    /// The bytes of a picture's file: libxml2 allows an attribute ten million.
    private static let longest = 7_000_000

    init(_ rules: SourceRules) {
        (self.rules, bytes) = (rules, 4 * rules.limits.drawingBytes)
        self.rules.depth += 1
    }

    /// The URI of a picture that librsvg reads, for that of one that it does not, at least not under its media type.
    mutating func readable(_ uri: String) -> String? {
        guard left > 0, bytes > 0, rules.depth <= Self.depth, SourceScheme(of: uri) == .data,
            let found = try? InlinePicture(parsing: uri), let format = PictureFormat(sniffing: found.bytes),
            ![.png, .jpeg].contains(format) || found.mediaType ?? format.mediaType != format.mediaType
        else { return nil }
        left -= 1
        guard let mapping = try? SourceMapping(copying: found.bytes), let picture = try? OverlayPicture(mapping, rules),
            let (type, file) = Self.file(of: picture)
        else { return nil }
        let made = "data:\(type);base64,\(file.base64EncodedString())"
        bytes -= made.utf8.count
        return made
    }

    private static func file(of overlay: OverlayPicture) -> (type: String, Data)? {
        var size = PixelSize(overlay.picture.width, overlay.picture.height)
        while size.width > 1, size.height > 1, let pixels = overlay.resized(to: size),
            let file = PNGEncoder.file(of: pixels, Rendition.Encoding(), quality: nil)
        {
            if file.count <= longest { return (PictureFormat.png.mediaType, file) }
            size = PixelSize(size.width / 2, size.height / 2)
        }
        return nil
    }
}
