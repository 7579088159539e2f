package import CameoModel

/// A message between worker and renderer.
package protocol RenderMessage: Sendable {
    static var kind: FrameHeader.Kind { get }
    var json: JSONValue { get }
    init(json: JSONValue) throws(MalformedMessage)
}

extension RenderMessage {
    /// The whole frame: header and JSON text.
    package var frame: [UInt8] {
        let text = Array(json.canonicalText.utf8)
        return FrameHeader(kind: Self.kind, length: text.count).bytes + text
    }

    /// Decodes the bytes that follow the frame header.
    package init(decoding text: some Sequence<UInt8>) throws(MalformedMessage) {
        let json: JSONValue
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: text)
        } catch {
            throw MalformedMessage("a \(Self.kind) message is not JSON: \(error)")
        }
        try self.init(json: json)
    }
}

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

/// Reads the members of one JSON object from a message, with a range for every number.
struct MessageReader {
    private let members: [String: JSONValue]

    init(_ json: JSONValue) throws(MalformedMessage) {
        guard case .object(let members) = json else { throw MalformedMessage("expected an object, not \(json.kind)") }
        self.members = members
    }

    func integer(_ key: String, in range: ClosedRange<Int>) throws(MalformedMessage) -> Int {
        guard case .integer(let value)? = members[key], let integer = Int(exactly: value), range.contains(integer)
        else {
            throw MalformedMessage("\(key) must be an integer in \(range)")
        }
        return integer
    }

    func string(_ key: String, maximumBytes: Int) throws(MalformedMessage) -> String {
        guard case .string(let text)? = members[key], text.utf8.count <= maximumBytes else {
            throw MalformedMessage("\(key) must be a string of at most \(maximumBytes) bytes")
        }
        return text
    }

    /// A line of at most 256 bytes.
    func optionalString(_ key: String) throws(MalformedMessage) -> String? {
        members[key] == nil ? nil : try string(key, maximumBytes: 256)
    }

    func bool(_ key: String) throws(MalformedMessage) -> Bool {
        guard case .bool(let value)? = members[key] else { throw MalformedMessage("\(key) must be true or false") }
        return value
    }

    func choice<Choice: RawRepresentable>(
        _ key: String,
        _ type: Choice.Type
    ) throws(MalformedMessage) -> Choice where Choice.RawValue == String {
        let word = try string(key, maximumBytes: 64)
        guard let choice = Choice(rawValue: word) else { throw MalformedMessage("\(key) is not a \(type)") }
        return choice
    }

    /// Reads each entry of an array; `read` returns nil for one that may not be there.
    func array<Value>(
        _ key: String,
        maximumCount: Int,
        _ read: (JSONValue) throws(MalformedMessage) -> Value?
    ) throws(MalformedMessage) -> [Value] {
        guard case .array(let values)? = members[key], values.count <= maximumCount else {
            throw MalformedMessage("\(key) must be an array of at most \(maximumCount) entries")
        }
        return try values.map { value throws(MalformedMessage) in
            guard let value = try read(value) else {
                throw MalformedMessage("\(key) has an entry that cannot be in it")
            }
            return value
        }
    }

    func strings<Value>(
        _ key: String,
        maximumCount: Int,
        _ read: (String) -> Value?
    ) throws(MalformedMessage) -> [Value] {
        try array(key, maximumCount: maximumCount) { if case .string(let text) = $0 { read(text) } else { nil } }
    }

    func optional(_ key: String) -> JSONValue? { members[key] }

    func value(_ key: String) throws(MalformedMessage) -> JSONValue {
        guard let value = members[key] else { throw MalformedMessage("\(key) is missing") }
        return value
    }
}

/// A message that the receiver cannot accept, and the reason.
package struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
