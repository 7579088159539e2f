internal import CameoModel

/// The size of a WebP picture from its first chunk (https://developers.google.com/speed/webp/docs/riff_container).
///
/// libvips allocates a whole frame (four bytes per pixel) to open a WebP file, before it can report the size, so the
/// limits are checked against this size first.
enum WebPCanvas {
    /// The memory, in bytes, that opening a picture of this size takes.
    static func openingBytes(of size: PixelSize) -> Int { size.width * size.height * 4 }

    /// The canvas size, or nil if the file does not start like a WebP.
    static func size(in bytes: UnsafeRawBufferPointer) -> PixelSize? {
        let start = Array(bytes.prefix(30))
        guard start.count == 30 else { return nil }
        func number(at offset: Int, bytes count: Int) -> Int {
            start[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let chunk = start[12..<16]
        if chunk.elementsEqual("VP8X".utf8) {
            return PixelSize(number(at: 24, bytes: 3) + 1, number(at: 27, bytes: 3) + 1)
        }
        if chunk.elementsEqual("VP8L".utf8), start[20] == 0x2F {
            let bits = number(at: 21, bytes: 4)
            return PixelSize((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1)
        }
        if chunk.elementsEqual("VP8 ".utf8), start[23..<26].elementsEqual([0x9D, 0x01, 0x2A]) {
            return PixelSize(number(at: 26, bytes: 2) & 0x3FFF, number(at: 28, bytes: 2) & 0x3FFF)
        }
        return nil
    }
}
