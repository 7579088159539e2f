internal import CameoModel

/// One field of a TIFF directory (TIFF 6.0, section 2), with its value in the file's byte order.
struct TIFFEntry {
    let tag: Int
    let type: Int
    let count: Int
    let value: [UInt8]

    /// The bytes of one value by type, 1 (BYTE) to 12 (DOUBLE).
    fileprivate static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8]

    /// One number of type 3 (SHORT) or 4 (LONG).
    static func number(_ tag: Int, type: Int = 4, _ number: Int, _ order: ByteOrder) -> TIFFEntry {
        var value: [UInt8] = []
        value.append(number, count: sizes[type] ?? 4, order)
        return TIFFEntry(tag: tag, type: type, count: 1, value: value)
    }
}

/// The TIFF structure of EXIF, as far as its directories can be read; entries that point outside are skipped.
struct TIFFFile {
    private let bytes: ArraySlice<UInt8>
    let order: ByteOrder

    /// - Parameter bytes: the data, with or without the `Exif` prefix that JPEG has.
    init?(_ bytes: [UInt8]) {
        let prefix = Array("Exif\0\0".utf8)
        self.bytes = bytes.starts(with: prefix) ? bytes[prefix.count...] : bytes[...]
        if self.bytes.starts(with: Array("II*\0".utf8)) {
            order = .little
        } else if self.bytes.starts(with: Array("MM\0*".utf8)) {
            order = .big
        } else {
            return nil
        }
    }

    /// The first directory; the second one belongs to the embedded preview.
    var firstDirectory: [TIFFEntry] { number(at: 4, count: 4).map { directory(at: $0) } ?? [] }

    /// The directory that a field of another one points to.
    func directory(of tag: Int, in entries: [TIFFEntry]) -> [TIFFEntry] {
        guard let pointer = entries.first(where: { $0.tag == tag })?.value, pointer.count == 4 else { return [] }
        return pointer.number(at: 0, count: 4, order).map { directory(at: $0) } ?? []
    }

    private func directory(at offset: Int) -> [TIFFEntry] {
        guard let count = number(at: offset, count: 2) else { return [] }
        return (0..<count).compactMap { entry(at: offset + 2 + $0 * 12) }
    }

    private func entry(at offset: Int) -> TIFFEntry? {
        guard let tag = number(at: offset, count: 2), let type = number(at: offset + 2, count: 2),
            let count = number(at: offset + 4, count: 4), let size = TIFFEntry.sizes[type], count <= bytes.count
        else { return nil }
        let length = count * size
        guard let place = length <= 4 ? offset + 8 : number(at: offset + 8, count: 4),
            let value = bytes.slice(at: place, count: length)
        else { return nil }
        return TIFFEntry(tag: tag, type: type, count: count, value: Array(value))
    }

    private func number(at offset: Int, count: Int) -> Int? { bytes.number(at: offset, count: count, order) }
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
