internal import CameoModel
internal import CameoSystem
internal import Foundation

/// The facts of an encoded picture, read from its first byte to its last.
///
/// DESIGN: a compromised renderer chooses these bytes, and others will decode them. So their structure is walked, and
/// nothing may be in them that was not requested: no bytes behind the end, where other files can hide; no second size;
/// no frame outside the picture. Pixels are not decoded.
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

    private func holds(_ size: PixelSize, left: Int, top: Int) -> Bool {
        left + size.width <= width && top + size.height <= height
    }

    /// Chunks from IHDR to IEND; no animation, since the renderer never writes one. The first may say how many frames of a
    /// video stand one below the other (``VideoFrameHeader``).
    private static func png(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        var (chunks, name) = (FileParts(.pngChunk, of: bytes, from: PNGFile.signature.count), "IHDR")
        guard let header = chunks.next(), header.name == name, header.payload.count == 13 else { return nil }
        while name != "IEND", let next = chunks.next()?.name {
            guard !["IHDR", "acTL", "fcTL", "fdAT"].contains(next) else { return nil }
            name = next
        }
        let isOfVideo = bytes.name(at: VideoFrameHeader.offset) == VideoFrameHeader.chunk
        let frames = isOfVideo ? bytes.number(at: VideoFrameHeader.framesOffset, count: 4) : 1
        guard name == "IEND", chunks.isAtEnd, let frames, let height = bytes.number(at: 20, count: 4), frames > 0,
            height.isMultiple(of: frames)
        else { return nil }
        return EncodedPicture(bytes.number(at: 16, count: 4), height / frames, frames: frames)
    }

    /// Segments, of which one has the size, up to the end mark.
    private static func jpeg(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard bytes.number(at: 0, count: 2) == 0xFFD8 else { return nil }
        var picture: EncodedPicture?
        for (marker, _, payload) in JPEGSegments(bytes) {
            switch marker {
            case 0xD9: return payload.upperBound == bytes.count ? picture : nil
            case 0xC4, 0xCC, 0xDA, 0xDB, 0xDD, 0xE0...0xFE: break
            case 0xC0...0xCF where marker != 0xC8:
                guard picture == nil else { return nil }
                picture = EncodedPicture(
                    bytes.number(at: payload.lowerBound + 3, count: 2),
                    bytes.number(at: payload.lowerBound + 1, count: 2)
                )
            default: return nil
            }
        }
        return nil
    }

    /// Blocks up to the trailer.
    private static func gif(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        func number(_ offset: Int) -> Int? { bytes.number(at: offset, count: 2, .little) }
        guard let screen = EncodedPicture(number(6), number(8)) else { return nil }
        var (frames, isSound) = (0, true)
        let end = GIFBlocks.walk(bytes) { block, _ in
            guard bytes[block] == 0x2C else { return }
            frames += 1
            let size = PixelSize(number(block + 5) ?? 0, number(block + 7) ?? 0)
            isSound = isSound && screen.holds(size, left: number(block + 1) ?? 0, top: number(block + 3) ?? 0)
        }
        guard isSound, let end, end + 1 == bytes.count, bytes[end] == 0x3B else { return nil }
        return EncodedPicture(screen.width, screen.height, frames: frames)
    }

    /// Boxes fill the file; the size is the `ispe` property (ISO/IEC 23008-12), which all its pictures (colour and alpha)
    /// must share.
    static func avif(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard bytes.name(at: 8) == "avif", let meta = only("meta", FileParts(.box, of: bytes)),
            let parts = only("iprp", FileParts(.box, of: bytes, from: meta.lowerBound + 4, to: meta.upperBound)),
            let place = only("ipco", FileParts(.box, of: bytes, from: parts.lowerBound, to: parts.upperBound))
        else { return nil }
        var picture: EncodedPicture?
        var properties = FileParts(.box, of: bytes, from: place.lowerBound, to: place.upperBound)
        while let (name, payload) = properties.next() {
            guard name == "ispe" else { continue }
            let (width, height) = (payload.lowerBound + 4, payload.lowerBound + 8)
            let size = EncodedPicture(bytes.number(at: width, count: 4), bytes.number(at: height, count: 4))
            guard let size, picture ?? size == size else { return nil }
            picture = size
        }
        return properties.isAtEnd ? picture : nil
    }

    /// What a box has, if the boxes fill their place and none but that for pixels is there twice.
    private static func only(_ name: String, _ boxes: FileParts) -> Range<Int>? {
        var (boxes, found): (FileParts, [String: Range<Int>]) = (boxes, [:])
        while let box = boxes.next() {
            guard found.updateValue(box.payload, forKey: box.name) == nil || box.name == "mdat" else { return nil }
        }
        return boxes.isAtEnd ? found[name] : nil
    }

    /// One plain chunk, or a VP8X header and any chunks. Every picture has the canvas size or, in an animation, its frame's.
    static func webp(_ bytes: UnsafeRawBufferPointer) -> EncodedPicture? {
        guard bytes.number(at: 4, count: 4, .little) == bytes.count - 8,
            let canvas = WebPSize.inChunk(at: 12, of: bytes),
            let picture = EncodedPicture(canvas.width, canvas.height)
        else { return nil }
        var (frames, chunks) = (0, FileParts(.riffChunk, of: bytes, from: 12))
        guard let first = chunks.next() else { return nil }
        guard first.name == "VP8X" else { return chunks.isAtEnd ? picture : nil }
        func fits(_ chunk: (name: String, payload: Range<Int>), _ size: PixelSize) -> Bool {
            !["VP8 ", "VP8L"].contains(chunk.name)
                || WebPSize.inChunk(at: chunk.payload.lowerBound - 8, of: bytes) == size
        }
        while let (name, payload) = chunks.next() {
            guard fits((name, payload), canvas) else { return nil }
            if ["VP8 ", "VP8L", "ANMF"].contains(name) { frames += 1 }
            guard name == "ANMF" else { continue }
            func number(_ place: Int) -> Int { bytes.number(at: payload.lowerBound + place, count: 3, .little) ?? 0 }
            let size = PixelSize(number(6) + 1, number(9) + 1)
            guard payload.count >= 16, picture.holds(size, left: 2 * number(0), top: 2 * number(3)) else { return nil }
            var parts = FileParts(.riffChunk, of: bytes, from: payload.lowerBound + 16, to: payload.upperBound)
            while let part = parts.next() { guard fits(part, size) else { return nil } }
            guard parts.isAtEnd else { return nil }
        }
        return chunks.isAtEnd ? EncodedPicture(canvas.width, canvas.height, frames: frames) : nil
    }
}
