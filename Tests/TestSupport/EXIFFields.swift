package import Foundation

/// A TIFF file as EXIF writes it, directory by directory: a reader of its own, for tests to check what was written.
package struct EXIFFields: Sendable {
    /// The values in big-endian order, by tag.
    package typealias Directory = [Int: [UInt8]]

    package let picture: Directory
    package let camera: Directory
    package let place: Directory
    /// The directory of the embedded preview.
    package let preview: Directory

    private let bytes: [UInt8]
    private let isBigEndian: Bool

    /// A block that cannot be read to its end.
    package struct Malformed: Error {
        package let offset: Int
    }

    /// With or without `Exif` before it.
    package init(_ data: Data) throws {
        let prefix = Data("Exif\0\0".utf8)
        bytes = Array(data.starts(with: prefix) ? data.dropFirst(prefix.count) : data)
        isBigEndian = bytes.starts(with: Array("MM\0*".utf8))
        guard isBigEndian || bytes.starts(with: Array("II*\0".utf8)) else { throw Malformed(offset: 0) }
        var reader = Reader(bytes: bytes, isBigEndian: isBigEndian)
        let first = try reader.number(4, 4)
        picture = try reader.directory(first)
        preview = try reader.directory(reader.number(first + 2 + picture.count * 12, 4))
        camera = try reader.directory(picture[0x8769].map(Self.number) ?? 0)
        place = try reader.directory(picture[0x8825].map(Self.number) ?? 0)
    }

    private static func number(_ bytes: [UInt8]) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// A number of a directory.
    package static func number(_ bytes: [UInt8]?) -> Int? { bytes.map(number) }

    /// A text of a directory, without its end.
    package static func text(_ bytes: [UInt8]?) -> String? {
        bytes.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private struct Reader {
        let bytes: [UInt8]
        let isBigEndian: Bool

        func value(_ offset: Int, _ count: Int, unit: Int) throws -> [UInt8] {
            guard offset >= 0, offset + count <= bytes.count else { throw Malformed(offset: offset) }
            let value = Array(bytes[offset..<offset + count])
            guard !isBigEndian, unit > 1 else { return value }
            return stride(from: 0, to: count, by: unit).flatMap { value[$0..<min(count, $0 + unit)].reversed() }
        }

        func number(_ offset: Int, _ count: Int) throws -> Int {
            EXIFFields.number(try value(offset, count, unit: count))
        }

        mutating func directory(_ offset: Int) throws -> Directory {
            guard offset > 0 else { return [:] }
            var directory: Directory = [:]
            for index in 0..<(try number(offset, 2)) {
                let entry = offset + 2 + index * 12
                // Bytes of a value, and of what is swapped in it.
                let (size, unit) =
                    [3: (2, 2), 4: (4, 4), 5: (8, 4), 8: (2, 2), 9: (4, 4), 10: (8, 4)][try number(entry + 2, 2)]
                    ?? (1, 1)
                let count = try number(entry + 4, 4) * size
                let place = count > 4 ? try number(entry + 8, 4) : entry + 8
                directory[try number(entry, 2)] = try value(place, count, unit: unit)
            }
            return directory
        }
    }
}
