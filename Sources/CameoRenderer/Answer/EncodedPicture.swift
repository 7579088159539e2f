internal import CameoModel
internal import Foundation

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
        guard let picture = data.withUnsafeBytes({ Self.picture(in: EncodedBytes($0), format) }) else { return nil }
        self = picture
    }

    private static func picture(in bytes: EncodedBytes, _ format: Rendition.Format) -> EncodedPicture? {
        switch format {
        case .png: png(bytes)
        case .gif: gif(bytes)
        case .jpeg: jpeg(bytes)
        case .webp: webp(bytes)
        case .avif: avif(bytes)
        case .auto, .source: nil
        }
    }

    func holds(left: Int, top: Int, width: Int, height: Int) -> Bool {
        left + width <= self.width && top + height <= self.height
    }

    /// Chunks from IHDR to IEND (https://www.w3.org/TR/png-3/#5DataRep); no animation, since the renderer never writes
    /// one. The first may say how many frames of a video stand one below the other (``VideoFrameHeader``).
    private static func png(_ bytes: EncodedBytes) -> EncodedPicture? {
        guard bytes.has("IHDR", 12), bytes.bigEndian(8, 4) == 13 else { return nil }
        var offset = 8
        while let length = bytes.bigEndian(offset, 4), let name = bytes.name(offset + 4) {
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
    private static func jpeg(_ bytes: EncodedBytes) -> EncodedPicture? {
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
    private static func gif(_ bytes: EncodedBytes) -> EncodedPicture? {
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
}
