internal import CameoModel

/// Tells a truncated file from a damaged one by the format's end mark.
enum Truncation {
    /// The number of bytes searched for the mark, since some programs append bytes of their own.
    private static let searchedBytes = 65_536

    static func isCutOff(_ bytes: UnsafeRawBufferPointer, as format: PictureFormat) -> Bool {
        let tail = bytes.suffix(searchedBytes)
        switch format {
        case .jpeg: return !contains(tail, [0xFF, 0xD9])
        case .png: return !contains(tail, Array("IEND".utf8))
        // The trailer, possibly followed by padding.
        case .gif: return tail.last(where: { $0 != 0 }) != 0x3B
        // The length of the RIFF chunk plus its eight-byte header.
        case .webp:
            let length = bytes.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            return bytes.count < length + 8
        // Their parts are located by offsets: a truncated file usually has no pixels at all.
        case .tiff, .heif, .avif, .svg, .jxl, .pdf, .initials, .video: return false
        }
    }

    private static func contains(_ bytes: Slice<UnsafeRawBufferPointer>, _ mark: [UInt8]) -> Bool {
        guard bytes.count >= mark.count else { return false }
        return (bytes.startIndex...(bytes.endIndex - mark.count)).contains { start in
            bytes[start] == mark[0] && bytes[start..<start + mark.count].elementsEqual(mark)
        }
    }
}
