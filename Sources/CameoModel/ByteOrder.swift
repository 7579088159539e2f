/// The order of the bytes of a number in a file.
@usableFromInline
package enum ByteOrder: Sendable {
    case big, little
}

/// Reads untrusted bytes, at offsets from the first one. Reading out of bounds returns nil.
extension RandomAccessCollection<UInt8> where Index == Int {
    @inlinable
    package func slice(at offset: Int, count: Int) -> SubSequence? {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
        return self[startIndex + offset..<startIndex + offset + count]
    }

    /// An unsigned integer of 0…8 bytes; zero bytes read as 0. Nil also for one beyond every size.
    @inlinable
    package func number(at offset: Int, count: Int, _ order: ByteOrder = .big) -> Int? {
        guard count <= 8, let slice = slice(at: offset, count: count) else { return nil }
        let number =
            switch order {
            case .big: slice.reduce(0) { $0 << 8 | Int($1) }
            case .little: slice.reversed().reduce(0) { $0 << 8 | Int($1) }
            }
        return number >> 56 == 0 ? number : nil
    }

    /// A four-character name, as chunks and boxes have.
    @inlinable
    package func name(at offset: Int) -> String? {
        slice(at: offset, count: 4).map { String(decoding: $0, as: UTF8.self) }
    }
}
