internal import Foundation

/// Reads numbers from untrusted bytes; reading out of bounds returns nil.
struct ByteReader {
    enum Order {
        case big, little
    }

    let bytes: [UInt8]
    var order = Order.big

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    var count: Int { bytes.count }

    func slice(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[offset..<offset + count]
    }

    /// An unsigned integer of 0…7 bytes; zero bytes read as 0.
    func number(at offset: Int, count: Int) -> Int? {
        guard count < 8, let slice = slice(at: offset, count: count) else { return nil }
        switch order {
        case .big: return slice.reduce(0) { $0 << 8 | Int($1) }
        case .little: return slice.reversed().reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// A four-character name, as chunks and boxes have.
    func name(at offset: Int) -> String? {
        slice(at: offset, count: 4).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension [UInt8] {
    /// Appends the low `count` bytes of an integer.
    mutating func append(_ number: Int, count: Int, _ order: ByteReader.Order = .big) {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        switch order {
        case .big: append(contentsOf: little.reversed())
        case .little: append(contentsOf: little)
        }
    }
}
