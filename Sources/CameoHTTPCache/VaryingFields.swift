/// The request fields that choose between the answers of one resource: `Vary` (RFC 9110, section 12.5.5).
struct VaryingFields: Hashable {
    /// More is no honest answer, and they go into a database's column.
    private static let most = 64

    /// In lower case, sorted, each once.
    let names: [String]

    /// What any of several answers varies on. Nil for `*`, for what is no field's name, and for too many names: nothing
    /// can be told to match then, and a miss is always right.
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

    /// What a request says in the fields, so that two requests match if their texts are equal (section 4.1): lines of a
    /// name are joined, and the white space around commas and empty members do not count. A field that is absent is not
    /// one that is empty. What has a quoted string is left as it is, for in it white space counts.
    func selection(from request: HTTPFields) -> String {
        names.map { name in
            guard let value = request[name] else { return name }
            guard !value.utf8.contains(UInt8(ascii: "\"")) else { return "\(name):\(value)" }
            let members = value.utf8.split(separator: UInt8(ascii: ",")).map(\.trimmed).filter { !$0.isEmpty }
            return "\(name):\(members.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ","))"
        }.joined(separator: "\n")
    }
}
