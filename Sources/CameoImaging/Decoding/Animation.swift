internal import CameoModel

/// The timing of an animation.
struct Animation: Hashable {
    /// The number of frames, at least 2.
    let frames: Int
    /// How long each frame is shown, in milliseconds; one entry per frame.
    let delays: [Int]
    /// The number of repetitions; 0 means forever.
    let loop: Int

    /// The delay of frames that name none, as browsers choose it. Unit: milliseconds.
    private static let defaultDelay = 100

    /// - Parameter roll: all frames stacked vertically, as loaded. The initializer returns nil for a single frame.
    init?(of roll: borrowing VipsPicture) {
        guard roll.pageHeight > 0, roll.height / roll.pageHeight > 1 else { return nil }
        frames = roll.height / roll.pageHeight
        let delays = roll.delays
        self.delays = (0..<frames).map { $0 < delays.count ? delays[$0] : Self.defaultDelay }
        loop = roll.loop ?? 0
    }
}

/// A GIF file in which what no frame covers, and what a frame leaves after disposal 2, is transparent, as browsers show it.
///
/// DESIGN: libvips' decoder makes both black or the file's background colour, unless a frame declares a transparent colour.
/// So each frame is made to declare one that it does not have; frames of 256 colours have no such and stay as they are.
struct GIFCanvas {
    /// The changed file.
    let bytes: [UInt8]

    /// Nil if nothing is to be changed, or if the structure is not what GIF89a says.
    init?(in file: UnsafeRawBufferPointer) {
        func number(_ offset: Int) -> Int { file.number(at: offset, count: 2, .little) ?? 0 }
        var (images, isCleared, control): (Int, Bool, Int?) = (0, false, nil)
        var changes: [(control: Int?, image: Int, index: UInt8)] = []
        let end = GIFBlocks.walk(file) { offset, _ in
            if file[offset] == 0x2C {
                let (own, shared) = (GIFBlocks.colors(file[offset + 9]), GIFBlocks.colors(file[10]))
                let isAtStart = number(offset + 1) == 0 && number(offset + 3) == 0
                let coversAll = isAtStart && number(offset + 5) >= number(6) && number(offset + 7) >= number(8)
                isCleared = isCleared || images == 0 && !coversAll
                let (count, isDeclared) = (own > 0 ? own : shared, control.map { file[$0 + 3] & 1 == 1 } ?? false)
                if !isDeclared, count < 256 { changes.append((control, offset, UInt8(count))) }
                (images, control) = (images + 1, nil)
            } else if file[offset + 1] == 0xF9, file[offset + 2] == 4, offset + 7 < file.count {
                control = offset
                isCleared = isCleared || file[offset + 3] >> 2 & 7 == 2
            }
        }
        guard end != nil, isCleared, !changes.isEmpty else { return nil }
        var bytes: [UInt8] = []
        var copied = 0
        for change in changes {
            bytes += file[copied..<(change.control ?? change.image)]
            if let control = change.control {
                bytes += [0x21, 0xF9, 4, file[control + 3] | 1, file[control + 4], file[control + 5], change.index]
                copied = control + 7
            } else {
                bytes += [0x21, 0xF9, 4, 1, 0, 0, change.index, 0]
                copied = change.image
            }
        }
        self.bytes = bytes + file[copied...]
    }

    /// Whether a file ends within a block; not if only its last byte, the trailer, is missing, or if it has others than blocks.
    static func isCutOff(_ file: UnsafeRawBufferPointer) -> Bool {
        GIFBlocks.walk(file) { _, _ in }.map { $0 > file.count } ?? false
    }

    /// The comments of a file, which have no name, and its XMP.
    static func texts(in file: UnsafeRawBufferPointer) -> (comments: [String], xmp: [UInt8]?) {
        var (comments, xmp): ([String], [UInt8]?) = ([], nil)
        _ = GIFBlocks.walk(file) { offset, data in
            let kind = file[offset] == 0x21 ? file[offset + 1] : 0
            if kind == 0xFE, comments.count < 16 {
                var (text, place): ([UInt8], Int) = ([], data.lowerBound)
                while place < data.upperBound, text.count < 16_384,
                    let piece = file.slice(at: place + 1, count: Int(file[place]))
                {
                    text += piece
                    place = piece.endIndex
                }
                comments.append(String(decoding: text, as: UTF8.self))
            }
            // As it is, with a trailer behind it that makes blocks of it.
            let start = data.lowerBound + 12
            guard kind == 0xFF, file.slice(at: start - 12, count: 12)?.elementsEqual("\u{B}XMP DataXMP".utf8) == true,
                let end = file.first(of: "</x:xmpmeta>", from: start), end - start < 1 << 17
            else { return }
            xmp = Array(file[start..<end + 12])
        }
        return (comments, xmp)
    }
}
