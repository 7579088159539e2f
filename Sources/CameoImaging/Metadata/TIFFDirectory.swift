internal import CameoModel

/// One field of a TIFF directory (TIFF 6.0, section 2), with its value in the file's byte order.
struct TIFFEntry {
    let tag: Int
    let type: Int
    let count: Int
    let value: [UInt8]

    /// The bytes of one value by type, 1 (BYTE) to 12 (DOUBLE), and of those that BigTIFF has besides.
    static let sizes = [
        1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
    ]

    /// One number of type 3 (SHORT) or 4 (LONG).
    static func number(_ tag: Int, type: Int = 4, _ number: Int, _ order: ByteOrder) -> TIFFEntry {
        var value: [UInt8] = []
        value.append(number, count: sizes[type] ?? 4, order)
        return TIFFEntry(tag: tag, type: type, count: 1, value: value)
    }
}

/// The directories of a TIFF or BigTIFF file (https://www.awaresystems.be/imaging/tiff/bigtiff.html), or of EXIF, which is one,
/// as far as they can be read; fields that point outside are skipped.
struct TIFFFile<Bytes: RandomAccessCollection<UInt8>> where Bytes.Index == Int {
    typealias Field = (tag: Int, type: Int, count: Int, value: Bytes.SubSequence)

    let bytes: Bytes
    let order: ByteOrder
    private let isBig: Bool
    /// Of a directory: no program writes as many.
    private static var mostFields: Int { 4_096 }

    init?(_ bytes: Bytes) {
        guard let mark = bytes.number(at: 0, count: 2), [0x4949, 0x4D4D].contains(mark) else { return nil }
        (self.bytes, order) = (bytes, mark == 0x4949 ? .little : .big)
        let magic = bytes.number(at: 2, count: 2, order)
        isBig = magic == 43 && bytes.number(at: 4, count: 4, order) == (order == .little ? 8 : 8 << 16)
        guard magic == 42 || isBig else { return nil }
    }

    /// Where the first directory is; in EXIF, the second one belongs to the embedded preview.
    var start: Int? { offset(at: isBig ? 8 : 4) }

    func offset(at place: Int) -> Int? { bytes.number(at: place, count: isBig ? 8 : 4, order) }

    /// The fields of a directory, and where they end, which may be behind the file.
    func directory(at start: Int) -> (fields: [Field], end: Int)? {
        let (width, word) = isBig ? (8, 8) : (2, 4)
        guard start > 0, let count = bytes.number(at: start, count: width, order), count <= Self.mostFields
        else { return nil }
        let end = start + width + count * (4 + 2 * word)
        let fields = stride(from: start + width, to: end, by: 4 + 2 * word).compactMap { entry -> Field? in
            guard let tag = bytes.number(at: entry, count: 2, order), let count = offset(at: entry + 4),
                let type = bytes.number(at: entry + 2, count: 2, order), let size = TIFFEntry.sizes[type],
                count <= bytes.count,
                let place = count * size <= word ? entry + 4 + word : offset(at: entry + 4 + word),
                let value = bytes.slice(at: place, count: count * size)
            else { return nil }
            return (tag, type, count, value)
        }
        return (fields, end)
    }
}

extension TIFFFile<ArraySlice<UInt8>> {
    /// - Parameter exif: the data, with or without the `Exif` prefix that JPEG has.
    init?(exif: [UInt8]) {
        let prefix = "Exif\0\0".utf8
        self.init(exif.starts(with: prefix) ? exif[prefix.count...] : exif[...])
    }

    var firstDirectory: [TIFFEntry] { start.map(entries) ?? [] }

    /// The directory that a field of another one points to.
    func directory(of tag: Int, in entries: [TIFFEntry]) -> [TIFFEntry] {
        guard let pointer = entries.first(where: { $0.tag == tag })?.value, pointer.count == 4 else { return [] }
        return pointer.number(at: 0, count: 4, order).map { self.entries(at: $0) } ?? []
    }

    private func entries(at start: Int) -> [TIFFEntry] {
        directory(at: start)?.fields.map { TIFFEntry(tag: $0, type: $1, count: $2, value: Array($3)) } ?? []
    }
}

extension [UInt8] {
    /// Appends the low `count` bytes of an integer.
    mutating func append(_ number: Int, count: Int, _ order: ByteOrder = .big) {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        switch order {
        case .big: append(contentsOf: little.reversed())
        case .little: append(contentsOf: little)
        }
    }
}
