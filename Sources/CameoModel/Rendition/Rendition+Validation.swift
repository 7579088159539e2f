extension Rendition {
    /// Checks ranges and combinations. An option that would have no effect is refused rather than ignored.
    package func validate(at path: String) throws(InvalidRequest) {
        try validateGeometry(at: path)
        try look.validate(at: path)
        try validateEncoding(at: path)
        guard Self.isValidName(name) else {
            throw Self.refusal(
                path,
                "name",
                "must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot, not \"\(name)\""
            )
        }
    }

    static func refusal(_ path: String, _ field: String, _ reason: String) -> InvalidRequest {
        InvalidRequest(path: "\(path).\(field)", reason: reason)
    }

    static func check<Number: Comparable>(
        _ number: Number?,
        in range: ClosedRange<Number>,
        _ path: String,
        _ field: String
    ) throws(InvalidRequest) {
        guard let number, !range.contains(number) else { return }
        throw refusal(path, field, "must be between \(range.lowerBound) and \(range.upperBound), not \(number)")
    }

    private func validateGeometry(at path: String) throws(InvalidRequest) {
        guard width != nil || height != nil else {
            throw InvalidRequest(path: path, reason: "needs a width, a height or both")
        }
        try Self.check(dpr, in: Self.densityRange, path, "dpr")
        try Self.check(width, in: Self.edgeRange, path, "width")
        try Self.check(height, in: Self.edgeRange, path, "height")
        for (field, box) in [("width", boxWidth), ("height", boxHeight)] {
            guard let box, !Self.edgeRange.contains(box) else { continue }
            throw Self.refusal(path, "dpr", "makes a \(field) of \(box) pixels, more than \(Self.edgeRange.upperBound)")
        }
        try Self.check(page, in: Self.pageRange, path, "page")
        try time.validate(at: path)
        if accurate, !time.isMoment {
            throw Self.refusal(path, "accurate", "is for a time in seconds or per cent")
        }
        try storyboard?.validate(at: "\(path).storyboard")
        if storyboard != nil, time != .auto {
            throw Self.refusal(path, "time", "selects one moment, but a storyboard shows the whole video")
        }
        try Self.check(trim, in: Self.trimRange, path, "trim")
        try crop?.validate(at: "\(path).crop")
        try gravity.validate(at: "\(path).gravity")
        if let objection = objectionToGravity { throw Self.refusal(path, "gravity", objection) }
    }

    /// Why the gravity would have no effect; nil if it has one or is the default.
    package var objectionToGravity: String? {
        guard gravity != .center else { return nil }
        guard fit == .cover || fit == .contain else {
            return "is for cover and contain: \(fit.rawValue) neither cuts nor pads"
        }
        guard width != nil, height != nil else {
            return "is for a box of width and height: one edge alone is neither cut nor padded"
        }
        guard fit == .contain, gravity.isSmart, let word = gravity.word else { return nil }
        return "\(word) chooses what cover cuts; contain cuts nothing"
    }

    private static func isValidName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.first != "."
            && name.utf8.allSatisfy { byte in
                let scalar = UnicodeScalar(byte)
                return byte < 0x80
                    && (Character(scalar).isLetter || Character(scalar).isNumber
                        || "._-".unicodeScalars.contains(scalar))
            }
    }
}
