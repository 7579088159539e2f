/// Header fields in the order of arrival. Names are case-insensitive.
package struct HTTPFields: Hashable, Sendable {
    package struct Line: Hashable, Sendable, Codable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var lines: [Line]

    package init(_ lines: [Line] = []) {
        self.lines = lines
    }

    /// All lines of the name, joined by ", " (RFC 9110, section 5.3); nil if there are none.
    package subscript(name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The values of the name in their order, without surrounding white space.
    package func values(of name: String) -> [String] {
        lines.filter { $0.name.isSameToken(as: name) }.map { $0.value.trimmed }
    }

    /// Replaces all lines of the name by one, in the place of the first or else at the end.
    ///
    /// - Parameters:
    ///   - name: the field name; case is ignored.
    ///   - value: nil removes the field.
    package mutating func set(_ name: String, _ value: String?) {
        let place = lines.firstIndex { $0.name.isSameToken(as: name) } ?? lines.endIndex
        lines.removeAll { $0.name.isSameToken(as: name) }
        if let value { lines.insert(Line(name: name, value: value), at: place) }
    }

    package mutating func append(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }
}

// Fields are encoded as the array of their lines.
extension HTTPFields: Codable {
    package init(from decoder: any Decoder) throws { self.init(try [Line](from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try lines.encode(to: encoder) }
}
