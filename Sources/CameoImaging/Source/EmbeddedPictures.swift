internal import CameoModel
internal import Foundation

/// Pictures in `data:` URIs of an SVG drawing. librsvg reads PNG and JPEG alone, and leaves out others without a word: they
/// are decoded here, by the same rules as any source, and replaced.
enum EmbeddedPictures {
    /// How many are decoded, and how deep they may lie in drawings within drawings.
    private static let (most, depth) = (100, 3)
    /// The bytes of a picture's file: libxml2 allows an attribute ten million.
    private static let longest = 7_000_000

    /// The text with pictures that librsvg reads; nil if nothing is to be changed.
    static func readable(_ text: UnsafeRawBufferPointer, _ rules: SourceRules) -> [UInt8]? {
        var inner = rules
        inner.depth += 1
        var (made, copied, offset, left): ([UInt8], Int, Int, Int) = ([], 0, 5, rules.depth < depth ? most : 0)
        while left > 0, made.count <= 4 * rules.limits.drawingBytes, offset < text.count,
            let colon = text[offset...].firstIndex(of: UInt8(ascii: ":"))
        {
            let start = colon - 4
            offset = colon + 1
            guard text[start..<offset].elementsEqual("data:".utf8), "\"'".utf8.contains(text[start - 1]),
                let end = text[offset...].firstIndex(of: text[start - 1])
            else { continue }
            offset = end
            guard let bytes = unreadable(String(decoding: text[start..<end], as: UTF8.self)) else { continue }
            left -= 1
            guard let mapping = try? SourceMapping(copying: bytes),
                let picture = try? OverlayPicture(mapping, inner),
                let (type, file) = file(of: picture)
            else { continue }
            made += text[copied..<start]
            made += "data:\(type);base64,\(file.base64EncodedString())".utf8
            copied = end
        }
        return copied > 0 ? made + text[copied...] : nil
    }

    /// The bytes in a URI if they are a picture that librsvg does not read, at least not under this media type.
    private static func unreadable(_ attribute: String) -> Data? {
        let uri = attribute.utf8.contains(UInt8(ascii: "&")) ? XMLCutter.unescaped(Array(attribute.utf8)) : attribute
        guard SourceScheme(of: uri) == .data, let found = try? InlinePicture(parsing: uri),
            let format = PictureFormat(sniffing: found.bytes)
        else { return nil }
        let isKnown = format == .png || format == .jpeg
        return isKnown && found.mediaType ?? format.mediaType == format.mediaType ? nil : found.bytes
    }

    private static func file(of overlay: OverlayPicture) -> (type: String, Data)? {
        var size = PixelSize(overlay.picture.width, overlay.picture.height)
        while size.width > 1, size.height > 1, let pixels = overlay.resized(to: size),
            let file = pixels.png(effort: 6)
        {
            if file.count <= longest { return (PictureFormat.png.mediaType, file) }
            size = PixelSize(size.width / 2, size.height / 2)
        }
        return nil
    }
}
