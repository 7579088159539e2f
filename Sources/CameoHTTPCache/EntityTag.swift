/// RFC 9110, section 8.8.3.
struct EntityTag: Equatable {
    let isWeak: Bool
    /// The bytes between the quotes; Swift's strings would take two spellings of one letter for the same.
    let opaque: [UInt8]

    /// - Parameter text: a field's value. Nil unless it is one entity tag and no more: sent back, a bare `*` would match
    ///   every answer.
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
