/// The frames of several moments of a video as `cameo-frames` hands them to a renderer: one below the other in a PNG, whose
/// first chunk after its header has their number. Of one frame there is no such chunk.
package enum VideoRoll {
    /// The chunk's name, and its offset in the file; a number of four bytes follows.
    package static let chunk = "cmFr"
    package static let offset = 37

    /// The number of frames; 1 for any other PNG.
    package static func frames(in bytes: UnsafeRawBufferPointer) -> Int {
        let start = bytes.dropFirst(offset).prefix(8)
        guard start.count == 8, start.prefix(4).elementsEqual(chunk.utf8) else { return 1 }
        return start.dropFirst(4).reduce(0) { $0 << 8 | Int($1) }
    }
}
