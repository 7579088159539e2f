internal import CameoModel
internal import Foundation
internal import Glibc

/// The facts of an encoded picture, read from its first byte to its last.
///
/// DESIGN: a compromised renderer chooses these bytes, and others will decode them. So their structure is walked, and
/// nothing may be in them that was not requested: no bytes behind the end, where other files can hide; no second size;
/// no frame outside the picture. Pixels are not decoded, and no memory is allocated.
struct EncodedPicture: Hashable {
    let width: Int
    let height: Int
    /// The number of frames; consecutive identical frames may be merged into one.
    let frames: Int

    init?(_ width: Int?, _ height: Int?, frames: Int = 1) {
        guard let width, let height, width > 0, height > 0, frames > 0 else { return nil }
        (self.width, self.height, self.frames) = (width, height, frames)
    }

    /// Nil unless the bytes are one complete picture of the format and nothing else.
    init?(_ data: Data, _ format: Rendition.Format) {
        let picture = data.withUnsafeBytes { bytes -> EncodedPicture? in
            switch format {
            case .png: Self.png(bytes)
            case .gif: Self.gif(bytes)
            case .jpeg: Self.jpeg(bytes)
            case .webp: Self.webp(bytes)
            case .avif: Self.avif(bytes)
            case .auto, .source: nil
            }
        }
        guard let picture else { return nil }
        self = picture
    }

    func holds(left: Int, top: Int, width: Int, height: Int) -> Bool {
        left + width <= self.width && top + height <= self.height
    }

    /// Chunks from IHDR to IEND (https://www.w3.org/TR/png-3/#5DataRep); no animation, since the renderer never writes
    /// one. The first may say how many frames of a video stand one below the other (``VideoFrameHeader``).
    private static func png(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard bytes.has("IHDR", 12), bytes.bigEndian(8, 4) == 13 else { return nil }
        var offset = 8
        while let length = bytes.bigEndian(offset, 4), let name = bytes.name(at: offset + 4) {
            let isSecondHeader = name == "IHDR" && offset > 8
            guard length <= bytes.count - offset - 12, !isSecondHeader, !["acTL", "fcTL", "fdAT"].contains(name) else {
                return nil
            }
            offset += 12 + length
            guard name == "IEND" else { continue }
            let isOfVideo = bytes.has(VideoFrameHeader.chunk, VideoFrameHeader.offset)
            let frames = isOfVideo ? bytes.bigEndian(VideoFrameHeader.framesOffset, 4) : 1
            guard offset == bytes.count, let frames, let height = bytes.bigEndian(20, 4), frames > 0,
                height.isMultiple(of: frames)
            else { return nil }
            return EncodedPicture(bytes.bigEndian(16, 4), height / frames, frames: frames)
        }
        return nil
    }

    /// Segments that declare their length and, after each SOS, compressed bytes, in which a 0xFF that is no marker is
    /// followed by zero (ITU T.81, annex B).
    private static func jpeg(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard bytes.bigEndian(0, 2) == 0xFFD8 else { return nil }
        var offset = 2
        var picture: EncodedPicture?
        while let marker = bytes.bigEndian(offset, 2) {
            if marker == 0xFFD9 { return offset + 2 == bytes.count ? picture : nil }
            guard let length = bytes.bigEndian(offset + 2, 2), length >= 2 else { return nil }
            switch marker {
            case 0xFFC4, 0xFFCC, 0xFFDB, 0xFFDD, 0xFFE0...0xFFFE: break
            case 0xFFC0...0xFFCF where marker != 0xFFC8:
                guard picture == nil else { return nil }
                picture = EncodedPicture(bytes.bigEndian(offset + 7, 2), bytes.bigEndian(offset + 5, 2))
            case 0xFFDA: break
            default: return nil
            }
            offset += 2 + length
            guard marker == 0xFFDA else { continue }
            while let next = bytes.firstIndex(of: 0xFF, from: offset) {
                offset = next
                guard let follower = bytes.byte(next + 1), follower == 0 || (0xD0...0xD7).contains(follower) else {
                    break
                }
                offset += 2
            }
        }
        return nil
    }

    /// Blocks up to the trailer (https://www.w3.org/Graphics/GIF/spec-gif89a.txt).
    private static func gif(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard let screen = EncodedPicture(bytes.littleEndian(6, 2), bytes.littleEndian(8, 2)),
            let flags = bytes.byte(10)
        else { return nil }
        var offset = 13 + colorTable(flags)
        var frames = 0
        while let kind = bytes.byte(offset) {
            switch kind {
            case 0x21: offset += 2
            case 0x2C:
                guard let left = bytes.littleEndian(offset + 1, 2), let top = bytes.littleEndian(offset + 3, 2),
                    let width = bytes.littleEndian(offset + 5, 2), let height = bytes.littleEndian(offset + 7, 2),
                    screen.holds(left: left, top: top, width: width, height: height),
                    let own = bytes.byte(offset + 9)
                else { return nil }
                frames += 1
                offset += 11 + colorTable(own)
            case 0x3B:
                let isLast = offset + 1 == bytes.count
                return isLast ? EncodedPicture(screen.width, screen.height, frames: frames) : nil
            default: return nil
            }
            while let length = bytes.byte(offset), length > 0 { offset += 1 + Int(length) }
            offset += 1
        }
        return nil
    }

    /// The bytes of a colour table.
    private static func colorTable(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    /// Boxes (ISO/IEC 14496-12) fill the file; the size is the `ispe` property (23008-12), which all its pictures (colour and
    /// alpha) must share.
    static func avif(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard let boxes = boxes(bytes, 0..<bytes.count), let meta = boxes["meta"],
            let parts = Self.boxes(bytes, meta.lowerBound + 4..<meta.upperBound)?["iprp"],
            let properties = Self.boxes(bytes, parts)?["ipco"]
        else { return nil }
        var sizes: Set<EncodedPicture> = []
        let isSound = isEachBox(bytes, properties) { name, content in
            guard name == "ispe" else { return true }
            let size = EncodedPicture(
                bytes.bigEndian(content.lowerBound + 4, 4),
                bytes.bigEndian(content.lowerBound + 8, 4)
            )
            if let size { sizes.insert(size) }
            return size != nil
        }
        return isSound && sizes.count == 1 ? sizes.first : nil
    }

    /// The contents of the boxes that fill a range exactly, by name; nil if a name occurs twice.
    private static func boxes(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [String: Range<Int>]? {
        var found: [String: Range<Int>] = [:]
        let isSound = isEachBox(bytes, range) { name, content in
            guard name != "mdat" else { return true }
            return found.updateValue(content, forKey: name) == nil
        }
        return isSound ? found : nil
    }

    private static func isEachBox(
        _ bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ isGood: (_ name: String, _ content: Range<Int>) -> Bool
    ) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let size = bytes.bigEndian(offset, 4), size >= 8, size <= range.upperBound - offset,
                let name = bytes.name(at: offset + 4), isGood(name, offset + 8..<offset + size)
            else { return false }
            offset += size
        }
        return true
    }

    /// One plain chunk, or a VP8X header and any chunks (https://developers.google.com/speed/webp/docs/riff_container). Every
    /// picture has the canvas size or, in an animation, its frame's.
    static func webp(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard bytes.littleEndian(4, 4) == bytes.count - 8 else { return nil }
        guard bytes.has("VP8X", 12) else {
            guard let length = bytes.littleEndian(16, 4), 20 + length + length % 2 == bytes.count else { return nil }
            return bitstream(bytes, 12)
        }
        guard let canvas = EncodedPicture(more(bytes, 24), more(bytes, 27)) else { return nil }
        var frames = 0
        let isSound = isEach(bytes, 12..<bytes.count) { name, start, length in
            switch name {
            case "VP8 ", "VP8L":
                frames += 1
                return bitstream(bytes, start - 8) == canvas
            case "ANMF":
                frames += 1
                guard let left = bytes.littleEndian(start, 3), let top = bytes.littleEndian(start + 3, 3),
                    let frame = EncodedPicture(more(bytes, start + 6), more(bytes, start + 9)), length >= 16,
                    canvas.holds(left: 2 * left, top: 2 * top, width: frame.width, height: frame.height)
                else { return false }
                return isEach(bytes, start + 16..<start + length) { name, start, _ in
                    !["VP8 ", "VP8L"].contains(name) || bitstream(bytes, start - 8) == frame
                }
            default: return true
            }
        }
        return isSound ? EncodedPicture(canvas.width, canvas.height, frames: frames) : nil
    }

    /// Whether chunks fill a range exactly and each satisfies a condition.
    private static func isEach(
        _ bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ isGood: (_ name: String, _ start: Int, _ length: Int) -> Bool
    ) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let name = bytes.name(at: offset), let length = bytes.littleEndian(offset + 4, 4),
                length <= range.upperBound - offset - 8, isGood(name, offset + 8, length)
            else { return false }
            offset += 8 + length + length % 2
        }
        return offset == range.upperBound
    }

    /// The size in the header of the bitstream chunk at an offset.
    private static func bitstream(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> EncodedPicture? {
        if bytes.has("VP8L", offset), let bits = bytes.littleEndian(offset + 9, 4) {
            return EncodedPicture(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        guard bytes.has("VP8 ", offset) else { return nil }
        return EncodedPicture(
            bytes.littleEndian(offset + 14, 2).map { $0 & 0x3FFF },
            bytes.littleEndian(offset + 16, 2).map { $0 & 0x3FFF }
        )
    }

    /// A three-byte number that is stored less 1.
    private static func more(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int? {
        bytes.littleEndian(offset, 3).map { $0 + 1 }
    }
}

// Short names for what is read here. Not `Data`: every byte of every answer is read, and `Data` checks each access anew.
extension UnsafeRawBufferPointer {
    fileprivate func byte(_ offset: Int) -> UInt8? { offset >= 0 && offset < count ? self[offset] : nil }

    fileprivate func bigEndian(_ offset: Int, _ count: Int) -> Int? { number(at: offset, count: count) }

    fileprivate func littleEndian(_ offset: Int, _ count: Int) -> Int? { number(at: offset, count: count, .little) }

    fileprivate func has(_ word: String, _ offset: Int) -> Bool {
        slice(at: offset, count: word.utf8.count)?.elementsEqual(word.utf8) ?? false
    }

    /// The position of the next byte with this value, from an offset on.
    fileprivate func firstIndex(of value: UInt8, from offset: Int) -> Int? {
        guard offset >= 0, offset < count, let base = baseAddress,
            let found = memchr(base + offset, Int32(value), count - offset)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
