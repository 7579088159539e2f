internal import Foundation

/// The untrusted bytes of an encoded picture; reading out of bounds returns nil.
struct EncodedBytes {
    private let bytes: Data

    init(_ bytes: Data) {
        // Offsets count from 0.
        self.bytes = bytes.startIndex == 0 ? bytes : Data(bytes)
    }

    var count: Int { bytes.count }

    func byte(_ offset: Int) -> UInt8? { offset >= 0 && offset < bytes.count ? bytes[offset] : nil }

    func bigEndian(_ offset: Int, _ count: Int) -> Int? { slice(offset, count)?.reduce(0) { $0 << 8 | Int($1) } }

    func littleEndian(_ offset: Int, _ count: Int) -> Int? {
        slice(offset, count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// A four-character name, as chunks and boxes have.
    func name(_ offset: Int) -> String? { slice(offset, 4).map { String(decoding: $0, as: UTF8.self) } }

    func has(_ word: String, _ offset: Int) -> Bool {
        slice(offset, word.utf8.count)?.elementsEqual(word.utf8) ?? false
    }

    /// The position of the next byte with this value, from an offset on.
    func firstIndex(of value: UInt8, from offset: Int) -> Int? {
        guard offset >= 0, offset < bytes.count else { return nil }
        return bytes[offset...].firstIndex(of: value)
    }

    private func slice(_ offset: Int, _ count: Int) -> Data? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[offset..<offset + count]
    }
}
