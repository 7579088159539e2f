/// The eight bytes before every message: its kind and the length of its JSON text, both 32-bit little-endian.
package struct FrameHeader: Hashable, Sendable {
    package enum Kind: UInt32, CaseIterable, Sendable {
        case hello = 0x314C_4548, job = 0x3142_4F4A, picture = 0x3143_4950, refusal = 0x3146_4552
    }

    package static let byteCount = 8

    package var kind: Kind
    package var length: Int

    package init(kind: Kind, length: Int) {
        self.kind = kind
        self.length = length
    }

    /// - Parameter bytes: exactly ``byteCount`` bytes from the peer.
    /// - Throws: for an unknown kind and for a length over ``RendererProtocol/maximumMessageBytes``.
    package init(decoding bytes: some Collection<UInt8>) throws(MalformedMessage) {
        guard bytes.count == Self.byteCount else {
            throw MalformedMessage("a frame header has \(Self.byteCount) bytes, not \(bytes.count)")
        }
        let words = [bytes.prefix(4), bytes.dropFirst(4)].map {
            $0.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        guard let kind = Kind(rawValue: words[0]) else { throw MalformedMessage("unknown message kind \(words[0])") }
        guard words[1] <= RendererProtocol.maximumMessageBytes else {
            let limit = RendererProtocol.maximumMessageBytes
            throw MalformedMessage("a message of \(words[1]) bytes is over the limit of \(limit)")
        }
        self.init(kind: kind, length: Int(words[1]))
    }

    package var bytes: [UInt8] {
        [kind.rawValue, UInt32(length)].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }
}
