/// Reads the fields of one JSON object; every error names the field's full path and the limit it broke.
struct JSONObjectReader {
    let path: String
    private let members: [String: JSONValue]

    /// Refuses every field that is not in `fields`: silently ignoring a misspelt option would cost its user hours.
    init(_ value: JSONValue, at path: String, fields: [String]) throws(InvalidRequest) {
        guard case .object(let members) = value else {
            throw InvalidRequest(path: path, reason: "must be an object, not \(value.kind)")
        }
        self.path = path
        self.members = members
        for key in members.keys.sorted() where !fields.contains(key) {
            let reason = "is not a known field (known: \(fields.joined(separator: ", ")))"
            throw InvalidRequest(path: self.path(of: key), reason: reason)
        }
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func value(_ key: String) -> JSONValue? { members[key] }

    func string(_ key: String) throws(InvalidRequest) -> String? {
        guard let value = members[key] else { return nil }
        guard case .string(let string) = value else { throw wrongKind(key, "a string", value) }
        return string
    }

    func bool(_ key: String) throws(InvalidRequest) -> Bool? {
        guard let value = members[key] else { return nil }
        guard case .bool(let bool) = value else { throw wrongKind(key, "true or false", value) }
        return bool
    }

    /// Reads a whole number; `256.0` counts as one, because some encoders write it that way.
    func integer(_ key: String, in range: ClosedRange<Int>) throws(InvalidRequest) -> Int? {
        guard let value = members[key] else { return nil }
        let integer: Int? =
            switch value {
            case .integer(let integer): Int(integer)
            case .number(let double): Int(exactly: double)
            default: nil
            }
        guard let integer else { throw wrongKind(key, "a whole number", value) }
        guard range.contains(integer) else {
            throw outOfRange(key, "\(range.lowerBound)", "\(range.upperBound)", "\(integer)")
        }
        return integer
    }

    func number(_ key: String, in range: ClosedRange<Double>) throws(InvalidRequest) -> Double? {
        guard let value = members[key] else { return nil }
        let double: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .number(let double): double
            default: nil
            }
        guard let double else { throw wrongKind(key, "a number", value) }
        guard range.contains(double) else {
            throw outOfRange(key, "\(range.lowerBound)", "\(range.upperBound)", "\(double)")
        }
        return double
    }

    func array(_ key: String) throws(InvalidRequest) -> [JSONValue]? {
        guard let value = members[key] else { return nil }
        guard case .array(let array) = value else { throw wrongKind(key, "an array", value) }
        return array
    }

    func object(_ key: String) throws(InvalidRequest) -> [String: JSONValue]? {
        guard let value = members[key] else { return nil }
        guard case .object(let object) = value else { throw wrongKind(key, "an object", value) }
        return object
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String,
        _ type: Choice.Type
    ) throws(InvalidRequest) -> Choice? where Choice.RawValue == String {
        guard let word = try string(key) else { return nil }
        guard let choice = Choice(rawValue: word) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidRequest(path: path(of: key), reason: "must be one of \(words), not \"\(word)\"")
        }
        return choice
    }

    /// Reads words of a closed list, each at most once.
    func choices<Choice: RawRepresentable & CaseIterable & Hashable>(
        _ key: String,
        _ type: Choice.Type
    ) throws(InvalidRequest) -> Set<Choice>? where Choice.RawValue == String {
        guard let items = try array(key) else { return nil }
        var choices: Set<Choice> = []
        for item in items {
            guard case .string(let word) = item, let choice = Choice(rawValue: word), choices.insert(choice).inserted
            else {
                let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw InvalidRequest(path: path(of: key), reason: "must be a list of different words from \(words)")
            }
        }
        return choices
    }

    func color(_ key: String) throws(InvalidRequest) -> Color? {
        guard let text = try string(key) else { return nil }
        guard let color = Color(text) else {
            let reason = "must be #rgb, #rgba, #rrggbb or #rrggbbaa, not \"\(text)\""
            throw InvalidRequest(path: path(of: key), reason: reason)
        }
        return color
    }

    private func wrongKind(_ key: String, _ expected: String, _ value: JSONValue) -> InvalidRequest {
        InvalidRequest(path: path(of: key), reason: "must be \(expected), not \(value.kind)")
    }

    private func outOfRange(_ key: String, _ low: String, _ high: String, _ value: String) -> InvalidRequest {
        InvalidRequest(path: path(of: key), reason: "must be between \(low) and \(high), not \(value)")
    }
}

extension JSONValue {
    /// The values of an object that has but one field, an object whose keys are labels; in the order of the labels.
    func named<Value>(
        _ field: String,
        _ read: (_ label: String, _ value: JSONValue, _ path: String) throws(InvalidRequest) -> Value
    ) throws(InvalidRequest) -> [Value] {
        guard let members = try JSONObjectReader(self, at: "", fields: [field]).object(field) else {
            throw InvalidRequest(path: field, reason: "is required")
        }
        var values: [Value] = []
        for (label, value) in members.sorted(by: { $0.key < $1.key }) {
            let path = "\(field).\(label)"
            guard ThumbnailRequest.isLabel(label) else {
                throw InvalidRequest(path: path, reason: "its name must be 1 to 64 of a-z 0-9 . _ -, not \"\(label)\"")
            }
            values.append(try read(label, value, path))
        }
        return values
    }
}
