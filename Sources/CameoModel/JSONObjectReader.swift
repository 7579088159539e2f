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
            throw refusal(key, "is not a known field (known: \(fields.joined(separator: ", ")))")
        }
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func refusal(_ key: String, _ reason: String) -> InvalidRequest { Rendition.refusal(path, key, reason) }

    func value(_ key: String) -> JSONValue? { members[key] }

    /// A field that may not be absent, as it was read.
    func required<Value>(_ key: String, _ value: Value?) throws(InvalidRequest) -> Value {
        guard let value else { throw refusal(key, "is required") }
        return value
    }

    func string(_ key: String) throws(InvalidRequest) -> String? {
        try read(key, "a string") { if case .string(let string) = $0 { string } else { nil } }
    }

    func bool(_ key: String) throws(InvalidRequest) -> Bool? {
        try read(key, "true or false") { if case .bool(let bool) = $0 { bool } else { nil } }
    }

    func array(_ key: String) throws(InvalidRequest) -> [JSONValue]? {
        try read(key, "an array") { if case .array(let array) = $0 { array } else { nil } }
    }

    func object(_ key: String) throws(InvalidRequest) -> [String: JSONValue]? {
        try read(key, "an object") { if case .object(let object) = $0 { object } else { nil } }
    }

    /// The texts of a list; none if it is missing.
    func strings(_ key: String) throws(InvalidRequest) -> [String] {
        var texts: [String] = []
        for item in try array(key) ?? [] {
            guard case .string(let text) = item else {
                throw refusal("\(key)[\(texts.count)]", "must be a string, not \(item.kind)")
            }
            texts.append(text)
        }
        return texts
    }

    private func read<Value>(
        _ key: String,
        _ kind: String,
        _ content: (JSONValue) -> Value?
    ) throws(InvalidRequest) -> Value? {
        guard let value = members[key] else { return nil }
        guard let content = content(value) else {
            throw refusal(key, "must be \(kind), not \(value.kind)")
        }
        return content
    }

    /// Reads a whole number; `256.0` counts as one, because some encoders write it that way.
    func integer(_ key: String, in range: ClosedRange<Int>) throws(InvalidRequest) -> Int? {
        let integer: Int? = try read(key, "a whole number") { value in
            switch value {
            case .integer(let integer): Int(integer)
            case .number(let double): Int(exactly: double)
            default: nil
            }
        }
        try Rendition.check(integer, in: range, path, key)
        return integer
    }

    func number(_ key: String, in range: ClosedRange<Double>) throws(InvalidRequest) -> Double? {
        let double: Double? = try read(key, "a number") { value in
            switch value {
            case .integer(let integer): Double(integer)
            case .number(let double): double
            default: nil
            }
        }
        try Rendition.check(double, in: range, path, key)
        return double
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        _ type: Choice.Type
    ) throws(InvalidRequest) -> Choice? {
        guard let word = try string(key) else { return nil }
        guard let choice = Choice(rawValue: word) else {
            throw refusal(key, "must be one of \(Choice.allWords), not \"\(word)\"")
        }
        return choice
    }

    /// Reads words of a closed list, each at most once.
    func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
        _ key: String,
        _ type: Choice.Type
    ) throws(InvalidRequest) -> Set<Choice>? {
        guard let items = try array(key) else { return nil }
        var choices: Set<Choice> = []
        for item in items {
            guard case .string(let word) = item, let choice = Choice(rawValue: word), choices.insert(choice).inserted
            else { throw refusal(key, "must be a list of different words from \(Choice.allWords)") }
        }
        return choices
    }

    func color(_ key: String) throws(InvalidRequest) -> Color? {
        guard let text = try string(key) else { return nil }
        guard let color = Color(text) else {
            throw refusal(key, "must be #rgb, #rgba, #rrggbb or #rrggbbaa, not \"\(text)\"")
        }
        return color
    }
}

extension JSONValue {
    /// The values of an object that has but one field, an object whose keys are labels; in the order of the labels.
    func named<Value>(
        _ field: String,
        _ read: (_ label: String, _ value: JSONValue, _ path: String) throws(InvalidRequest) -> Value
    ) throws(InvalidRequest) -> [Value] {
        let reader = try JSONObjectReader(self, at: "", fields: [field])
        var values: [Value] = []
        for (label, value) in try reader.required(field, try reader.object(field)).sorted(by: { $0.key < $1.key }) {
            let path = "\(field).\(label)"
            guard ThumbnailRequest.isLabel(label) else {
                throw InvalidRequest(path: path, reason: "its name must be 1 to 64 of a-z 0-9 . _ -, not \"\(label)\"")
            }
            values.append(try read(label, value, path))
        }
        return values
    }
}
