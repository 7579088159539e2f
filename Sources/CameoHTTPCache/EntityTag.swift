/// An `ETag` (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
    let isWeak: Bool
    /// The bytes between the quotes. They are no `String`, which would equate canonically equivalent spellings.
    let opaque: [UInt8]

    /// - Parameter text: a field value. The result is nil unless it is exactly one entity tag: a bare `*`, sent back, would
    ///   match every representation.
    init?(parsing text: String) {
        let bytes = Array(text.utf8)
        isWeak = bytes.starts(with: Array("W/".utf8))
        let quoted = bytes.dropFirst(isWeak ? 2 : 0)
        let quote = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == quote, quoted.last == quote else { return nil }
        opaque = Array(quoted.dropFirst().dropLast())
        guard opaque.allSatisfy({ $0 > 0x20 && $0 != quote && $0 != 0x7F }) else { return nil }
    }

    var text: String { "\(isWeak ? "W/" : "")\"\(String(decoding: opaque, as: UTF8.self))\"" }
}
