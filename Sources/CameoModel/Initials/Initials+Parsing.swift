extension Initials {
    /// Parses `initials:NAME`, optionally followed by `?` and `size`, `background` and `color`, joined by `&`. NAME and
    /// the values are percent-encoded UTF-8; a `+` is a plus sign.
    ///
    /// Works on bytes, because a Swift `Character` merges a `?` with a combining accent that follows it.
    ///
    /// - Throws: `InvalidRequest` with the path `source`.
    package init(parsing uri: String) throws(InvalidRequest) {
        guard Self.isInitialsURI(uri) else { throw Self.refusal("is not an initials: URI") }
        let text = uri.utf8.dropFirst(9)
        guard !text.contains(UInt8(ascii: "#")) else {
            throw Self.refusal("an initials: URI has a #, which must be written %23")
        }
        let question = text.firstIndex(of: UInt8(ascii: "?"))
        let name = try Self.name(try Self.decoded(text[..<(question ?? text.endIndex)]))
        var options: [String: String] = [:]
        if let question {
            let query = text[text.index(after: question)...]
            options = try Self.options(query)
        }
        let background = try Self.color(options["background"], "background") ?? Self.background(for: name)
        let color = try Self.color(options["color"], "color") ?? background.readableTextColor
        guard color.alpha == 255 else { throw Self.refusal("the color of initials must be opaque") }
        self.init(
            letters: try Self.letters(of: name),
            size: try Self.size(options["size"]),
            background: background,
            color: color
        )
    }

    static func refusal(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }

    private static func decoded(_ text: some Sequence<UInt8>) throws(InvalidRequest) -> String {
        guard let bytes = PercentEncoding.decoded(text) else {
            throw refusal("an initials: URI has a % that is not followed by two hexadecimal digits")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw refusal("an initials: URI is not UTF-8 after percent-decoding")
        }
        return decoded
    }

    private static func options(_ query: Substring.UTF8View) throws(InvalidRequest) -> [String: String] {
        var options: [String: String] = [:]
        for part in query.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let key = try decoded(pair[0])
            guard ["size", "background", "color"].contains(key) else {
                throw refusal("initials have no option \"\(key)\", only size, background and color")
            }
            guard pair.count == 2 else { throw refusal("the option \(key) of initials has no value") }
            guard options.updateValue(try decoded(pair[1]), forKey: key) == nil else {
                throw refusal("the option \(key) of initials appears twice")
            }
        }
        return options
    }

    private static func size(_ text: String?) throws(InvalidRequest) -> Int {
        guard let text else { return defaultSize }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let size = Int(text), sizeRange.contains(size) else {
            let allowed = "\(sizeRange.lowerBound) to \(sizeRange.upperBound)"
            throw refusal("the size of initials must be \(allowed) pixels, not \"\(text)\"")
        }
        return size
    }

    private static func color(_ text: String?, _ option: String) throws(InvalidRequest) -> Color? {
        guard let text else { return nil }
        guard let color = Color(text) else {
            throw refusal("the \(option) of initials must be a colour such as %23rrggbb, not \"\(text)\"")
        }
        return color
    }
}
