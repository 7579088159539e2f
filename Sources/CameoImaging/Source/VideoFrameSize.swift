internal import CameoModel

/// The size of the whole frame of a video, which its PNG names because it may have been made smaller.
enum VideoFrameSize {
    /// The bytes of signature and IHDR, which the chunk follows.
    private static let offset = 33

    /// Nil unless the bytes are a PNG by `cameo-frames`.
    static func named(in bytes: UnsafeRawBufferPointer) -> PixelSize? {
        guard bytes.count >= offset + 20, bytes[offset..<offset + 8].elementsEqual([0, 0, 0, 12] + Array("caMo".utf8))
        else { return nil }
        func number(at start: Int) -> Int { bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
        let size = PixelSize(number(at: offset + 8), number(at: offset + 12))
        return size.width > 0 && size.height > 0 ? size : nil
    }
}
