/// The frames of several moments of a video as `cameo-frames` hands them to a renderer: one below the other in a PNG, whose
/// first chunk after its header has the size of a frame of the video and their number.
package enum VideoRoll {
    /// The chunk's name and its offset in the file, and the offset of the number of four bytes.
    package static let chunk = "caMo"
    package static let offset = 37
    package static let numberOffset = offset + 12

    /// The number of frames; 1 for any other PNG.
    package static func frames(in bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.dropFirst(offset).starts(with: chunk.utf8) else { return 1 }
        return bytes.dropFirst(numberOffset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}
