/// The request fields that select among the responses of one resource: `Vary` (RFC 9110, section 12.5.5).
struct VaryingFields: Hashable {
    /// The names go into a database column, and no honest response has more.
    private static let most = 64

    /// Unique names in lower case, sorted.
    let names: [String]

    /// The fields on which any of several responses varies. Nil for `*`, for text that is not a field name, and for too many
    /// names: no request can be said to match then, and a miss is always correct.
    init?(of answers: [HTTPFields]) {
        let members = answers.flatMap { $0.values(of: "Vary") }.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        let names = Set(members.map { String(decoding: $0.trimmed, as: UTF8.self).asciiLowercased }).subtracting([""])
        guard names.count <= Self.most, names.allSatisfy({ $0 != "*" && $0.isToken }) else { return nil }
        self.names = names.sorted()
    }

    init?(names: [String]) {
        guard !names.isEmpty, names.allSatisfy(\.isToken) else { return nil }
        self.names = names
    }

    /// A request's values of the fields. Two requests match if their texts are equal (section 4.1): lines of the same name
    /// are joined; white space around commas and empty members are ignored. An absent field differs from an empty one. A
    /// value with a quoted string is left as it is, since white space inside quotes is significant.
    func selection(from request: HTTPFields) -> String {
        names.map { name in
            guard let value = request[name] else { return name }
            guard !value.utf8.contains(UInt8(ascii: "\"")) else { return "\(name):\(value)" }
            let members = value.utf8.split(separator: UInt8(ascii: ",")).map(\.trimmed).filter { !$0.isEmpty }
            return "\(name):\(members.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ","))"
        }.joined(separator: "\n")
    }
}
