/// Header fields in the order in which they came. Names compare without case.
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

    /// All lines of the name joined by ", " (RFC 9110, section 5.3); nil without any.
    package subscript(name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The lines of the name, in their order, without the white space around them.
    package func values(of name: String) -> [String] {
        lines.filter { $0.name.isSameToken(as: name) }.map { $0.value.trimmed }
    }

    /// Puts one line where the first of that name was, or at the end, and takes all others of that name away.
    ///
    /// - Parameters:
    ///   - name: in any case.
    ///   - value: nil leaves no line.
    package mutating func set(_ name: String, _ value: String?) {
        let place = lines.firstIndex { $0.name.isSameToken(as: name) } ?? lines.endIndex
        lines.removeAll { $0.name.isSameToken(as: name) }
        if let value { lines.insert(Line(name: name, value: value), at: place) }
    }

    package mutating func append(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }
}

// As their lines alone.
extension HTTPFields: Codable {
    package init(from decoder: any Decoder) throws { self.init(try [Line](from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try lines.encode(to: encoder) }
}
