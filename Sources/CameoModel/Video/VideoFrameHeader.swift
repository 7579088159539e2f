/// What `cameo-frames` says of its PNG, in a chunk of its own that follows the PNG's header: the size of the video's frame,
/// of which the picture may be a smaller one, and how many frames stand one below the other.
package struct VideoFrameHeader: Hashable, Sendable {
    /// The chunk's name, its offset in the file, and that of the number of frames, which has four bytes.
    package static let chunk = "caMo"
    package static let offset = 37
    package static let framesOffset = offset + 12
    private static let end = framesOffset + 4

    package let size: PixelSize
    package let frames: Int

    /// Nil unless the bytes are a PNG by `cameo-frames`.
    package init?(in bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.end, bytes.dropFirst(Self.offset).starts(with: Self.chunk.utf8) else { return nil }
        func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        size = PixelSize(number(Self.offset + 4), number(Self.offset + 8))
        frames = number(Self.framesOffset)
        guard size.width > 0, size.height > 0, frames > 0 else { return nil }
    }
}
