internal import CameoModel

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

    func array(_ key: String, maximumCount: Int) throws(MalformedMessage) -> [JSONValue] {
        guard case .array(let values)? = members[key], values.count <= maximumCount else {
            throw MalformedMessage("\(key) must be an array of at most \(maximumCount) entries")
        }
        return values
    }

    func optional(_ key: String) -> JSONValue? { members[key] }

    func value(_ key: String) throws(MalformedMessage) -> JSONValue {
        guard let value = members[key] else { throw MalformedMessage("\(key) is missing") }
        return value
    }
}
