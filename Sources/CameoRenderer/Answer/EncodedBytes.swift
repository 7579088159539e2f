internal import Foundation
internal import Glibc

/// The untrusted bytes of an encoded picture; reading out of bounds returns nil. Not to be used after the call of
/// `withUnsafeBytes` that lent them: every byte of every answer is read, and `Data` checks each access anew.
struct EncodedBytes {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
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
        guard offset >= 0, offset < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + offset, Int32(value), bytes.count - offset)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    private func slice(_ offset: Int, _ count: Int) -> Slice<UnsafeRawBufferPointer>? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[offset..<offset + count]
    }
}
