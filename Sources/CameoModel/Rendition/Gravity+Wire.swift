extension Rendition.Gravity {
    /// Reads a word or `{"x":…,"y":…}`; nil if the field is absent.
    init?(_ reader: JSONObjectReader, _ key: String) throws(InvalidRequest) {
        guard let value = reader.value(key) else { return nil }
        let path = reader.path(of: key)
        switch value {
        case .string(let text):
            guard let gravity = Self(word: text) else {
                let words = Self.words.compactMap(\.word).joined(separator: ", ")
                throw InvalidRequest(
                    path: path,
                    reason: "must be one of \(words), or {\"x\":…,\"y\":…}, not \"\(text)\""
                )
            }
            self = gravity
        case .object:
            let point = try JSONObjectReader(value, at: path, fields: ["x", "y"])
            guard let x = try point.number("x", in: Rendition.FocalPoint.range),
                let y = try point.number("y", in: Rendition.FocalPoint.range)
            else { throw InvalidRequest(path: path, reason: "a focal point needs x and y, 0 to 1 each") }
            self = .focus(Rendition.FocalPoint(x: x, y: y))
        default:
            throw InvalidRequest(path: path, reason: "must be a word or {\"x\":…,\"y\":…}, not \(value.kind)")
        }
    }

    var json: JSONValue {
        switch self {
        case .focus(let point): .object(["x": .number(point.x), "y": .number(point.y)])
        default: .string(word ?? "center")
        }
    }

    func validate(at path: String) throws(InvalidRequest) {
        guard case .focus(let point) = self else { return }
        try Rendition.check(point.x, in: Rendition.FocalPoint.range, path, "x")
        try Rendition.check(point.y, in: Rendition.FocalPoint.range, path, "y")
    }
}
