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
        guard file.count > 13 else { return nil }
        func number(_ offset: Int) -> Int { Int(file[offset]) | Int(file[offset + 1]) << 8 }
        func colors(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 2 << Int(flags & 7) }
        let (width, height, shared) = (number(6), number(8), colors(file[10]))
        var (offset, control): (Int, Int?) = (13 + 3 * shared, nil)
        var (images, isCleared, changes): (Int, Bool, [(control: Int?, image: Int, index: UInt8)]) = (0, false, [])
        while offset < file.count, file[offset] != 0x3B {
            // An image's header is longer than the shortest extension.
            guard offset + (file[offset] == 0x2C ? 10 : 2) < file.count else { return nil }
            var blocks: Int
            switch file[offset] {
            case 0x21:
                if file[offset + 1] == 0xF9, file[offset + 2] == 4, offset + 7 < file.count {
                    control = offset
                    isCleared = isCleared || file[offset + 3] >> 2 & 7 == 2
                }
                blocks = offset + 2
            case 0x2C:
                let (own, place) = (colors(file[offset + 9]), (number(offset + 1), number(offset + 3)))
                let coversAll = place == (0, 0) && number(offset + 5) >= width && number(offset + 7) >= height
                if images == 0, !coversAll { isCleared = true }
                let isDeclared = control.map { file[$0 + 3] & 1 == 1 } ?? false
                let count = own > 0 ? own : shared
                if !isDeclared, count < 256 { changes.append((control, offset, UInt8(count))) }
                images += 1
                control = nil
                blocks = offset + 11 + 3 * own
            default: return nil
            }
            while blocks < file.count, file[blocks] != 0 { blocks += 1 + Int(file[blocks]) }
            offset = blocks + 1
        }
        guard isCleared, !changes.isEmpty else { return nil }
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
    static func isCutOff(_ file: UnsafeRawBufferPointer) -> Bool { walk(file) { _, _ in } }

    /// The comments of a file, which have no name, and its XMP.
    static func texts(in file: UnsafeRawBufferPointer) -> (comments: [String], xmp: [UInt8]?) {
        var (comments, xmp): ([String], [UInt8]?) = ([], nil)
        _ = walk(file) { kind, blocks in
            if kind == 0xFE, comments.count < 16 {
                comments.append(String(decoding: blocks.prefix(64).flatMap { Array(file[$0]) }, as: UTF8.self))
            }
            // As it is, with a trailer behind it that makes blocks of it.
            guard kind == 0xFF, let name = blocks.first, file[name].elementsEqual("XMP DataXMP".utf8),
                let end = file.first(of: "</x:xmpmeta>", from: name.upperBound), end - name.upperBound < 1 << 17
            else { return }
            xmp = Array(file[name.upperBound..<end + 12])
        }
        return (comments, xmp)
    }

    /// Tells the kind of each extension and where its data is; returns whether the file ends within a block.
    private static func walk(_ file: UnsafeRawBufferPointer, _ visit: (UInt8, [Range<Int>]) -> Void) -> Bool {
        func colors(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 * (2 << Int(flags & 7)) }
        guard file.count > 13 else { return true }
        var offset = 13 + colors(file[10])
        while offset < file.count, file[offset] != 0x3B {
            let isImage = file[offset] == 0x2C
            guard isImage || file[offset] == 0x21 else { return false }
            guard offset + (isImage ? 9 : 1) < file.count else { return true }
            var at = offset + (isImage ? 11 + colors(file[offset + 9]) : 2)
            var blocks: [Range<Int>] = []
            while at < file.count, file[at] != 0 {
                let end = at + 1 + Int(file[at])
                if !isImage, end <= file.count { blocks.append(at + 1..<end) }
                at = end
            }
            if !isImage { visit(file[offset + 1], blocks) }
            offset = at + 1
        }
        return offset > file.count
    }
}
