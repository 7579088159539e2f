internal import Glibc

/// The named parts of a file, one behind the other, up to one that does not fit; what they hold is a range of the file.
package struct FileParts: Sequence, IteratorProtocol {
    package enum Form: Sendable {
        /// A box of an ISO base media file (ISO/IEC 14496-12, 4.2).
        case box
        /// A chunk of a PNG (https://www.w3.org/TR/png-3/#5DataRep), which a checksum follows.
        case pngChunk
        /// A chunk of a WebP file (https://developers.google.com/speed/webp/docs/riff_container), of even length.
        case riffChunk
    }

    private let form: Form
    private let file: UnsafeRawBufferPointer
    private let end: Int
    /// Where the next part begins.
    private var offset: Int

    /// Those of the whole file, or from an offset on and up to another.
    package init(_ form: Form, of file: UnsafeRawBufferPointer, from start: Int = 0, to end: Int? = nil) {
        (self.form, self.file, offset, self.end) = (form, file, start, end ?? file.count)
    }

    /// Whether the parts so far end where the file does.
    package var isAtEnd: Bool { offset == end }

    package mutating func next() -> (name: String, payload: Range<Int>)? {
        let isRIFF = form == .riffChunk
        guard let length = file.number(at: offset + (isRIFF ? 4 : 0), count: 4, isRIFF ? .little : .big),
            let name = file.name(at: offset + (isRIFF ? 0 : 4))
        else { return nil }
        var (start, size) = (offset + 8, length)
        switch form {
        case .riffChunk: break
        case .pngChunk: size += 4
        case .box where length == 0: size = end - start
        case .box where length == 1:
            guard let long = file.number(at: offset + 8, count: 8) else { return nil }
            (start, size) = (offset + 16, long - 16)
        case .box: size -= 8
        }
        guard size >= 0, size <= end - start else { return nil }
        offset = start + size + (isRIFF ? size % 2 : 0)
        return (name, start..<start + (form == .pngChunk ? length : size))
    }
}

/// The segments of a JPEG file (ITU-T T.81, annex B), the last of which is its end mark, or up to what is none.
package struct JPEGSegments: Sequence, IteratorProtocol {
    private let file: UnsafeRawBufferPointer
    /// Behind the last one; nil if there is no other.
    private var offset: Int?
    private var isBehindScan = false

    package init(_ file: UnsafeRawBufferPointer, from start: Int = 0) { (self.file, offset) = (file, start + 2) }

    /// A marker's second byte, where the marker begins, and what its segment holds.
    package mutating func next() -> (marker: UInt8, start: Int, payload: Range<Int>)? {
        guard var start = isBehindScan ? endOfScan : offset else { return nil }
        // Any number of bytes may fill.
        while file.number(at: start, count: 2) == 0xFFFF { start += 1 }
        offset = nil
        guard let marker = file.number(at: start, count: 2), marker > 0xFFBF else { return nil }
        if marker == 0xFFD9 { return (0xD9, start, start + 2..<start + 2) }
        guard let length = file.number(at: start + 2, count: 2), length >= 2, length <= file.count - start - 2
        else { return nil }
        (offset, isBehindScan) = (start + 2 + length, marker == 0xFFDA)
        return (UInt8(marker & 0xFF), start, start + 4..<start + 2 + length)
    }

    /// Where the compressed bytes end that follow the header of a scan: at a 0xFF that is followed neither by zero nor by the
    /// number of a restart.
    private var endOfScan: Int? {
        guard let base = file.baseAddress, var offset else { return nil }
        while offset < file.count, let found = memchr(base + offset, 0xFF, file.count - offset) {
            offset = UnsafeRawPointer(found) - base
            guard let follower = file.number(at: offset + 1, count: 1) else { return nil }
            guard follower == 0 || (0xD0...0xD7).contains(follower) else { return offset }
            offset += 2
        }
        return nil
    }
}

/// The blocks of a GIF file (https://www.w3.org/Graphics/GIF/spec-gif89a.txt).
package enum GIFBlocks {
    /// The colours of a table, by the flags before it.
    package static func colors(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 2 << Int(flags & 7) }

    /// Tells where each image and extension is, and where its data, in pieces that begin with their length; returns where the
    /// last ends, which is beyond a file that was cut off. Nil if there is anything but blocks.
    package static func walk(_ file: UnsafeRawBufferPointer, _ visit: (_ block: Int, _ data: Range<Int>) -> Void)
        -> Int?
    {
        guard file.count > 13 else { return file.count + 1 }
        var offset = 13 + 3 * colors(file[10])
        while offset < file.count, file[offset] != 0x3B {
            let isImage = file[offset] == 0x2C
            guard isImage || file[offset] == 0x21 else { return nil }
            guard offset + (isImage ? 10 : 2) < file.count else { return file.count + 1 }
            let data = offset + (isImage ? 11 + 3 * colors(file[offset + 9]) : 2)
            var end = data
            while end < file.count, file[end] != 0 { end += 1 + Int(file[end]) }
            visit(offset, data..<end)
            offset = end + 1
        }
        return offset
    }
}

/// The size of a WebP picture (https://developers.google.com/speed/webp/docs/riff_container).
package enum WebPSize {
    /// By the header of the whole or of its pixels, at an offset; nil if neither is there.
    package static func inChunk(at offset: Int, of file: UnsafeRawBufferPointer) -> PixelSize? {
        func number(_ place: Int, _ count: Int) -> Int { file.number(at: offset + place, count: count, .little) ?? 0 }
        switch file.name(at: offset) {
        case "VP8X": return PixelSize(number(12, 3) + 1, number(15, 3) + 1)
        case "VP8L" where number(8, 1) == 0x2F:
            let bits = number(9, 4)
            return PixelSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case "VP8 " where number(11, 3) == 0x2A019D: return PixelSize(number(14, 2) & 0x3FFF, number(16, 2) & 0x3FFF)
        default: return nil
        }
    }
}
