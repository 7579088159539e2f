extension Rendition.CropArea {
    package static let fields = ["left", "top", "width", "height", "unit"]

    init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        let bounds = 0...Double(RenderLimits.pixelCoordinates)
        guard let width = try reader.number("width", in: bounds), let height = try reader.number("height", in: bounds)
        else { throw InvalidRequest(path: path, reason: "needs a width and a height") }
        self.init(
            left: try reader.number("left", in: bounds) ?? 0,
            top: try reader.number("top", in: bounds) ?? 0,
            width: width,
            height: height,
            unit: try reader.choice("unit", Unit.self) ?? .pixels
        )
        try validate(at: path)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["width": .number(width), "height": .number(height)]
        if left != 0 { members["left"] = .number(left) }
        if top != 0 { members["top"] = .number(top) }
        if unit != .pixels { members["unit"] = .string(unit.rawValue) }
        return .object(members)
    }

    func validate(at path: String) throws(InvalidRequest) {
        for (field, number) in [("left", left), ("top", top), ("width", width), ("height", height)] {
            switch unit {
            case .pixels:
                try Rendition.check(number, in: 0...Double(RenderLimits.pixelCoordinates), path, field)
                guard number == number.rounded() else {
                    throw Rendition.refusal(path, field, "must be whole pixels, not \(number), or have unit fraction")
                }
            case .fraction: try Rendition.check(number, in: 0...1, path, field)
            }
        }
        for (field, number) in [("width", width), ("height", height)] where number == 0 {
            throw Rendition.refusal(path, field, "must be more than 0")
        }
        // Thirds and tenths do not add up to exactly 1 in binary.
        guard unit == .pixels || (left + width <= 1.000_001 && top + height <= 1.000_001) else {
            throw InvalidRequest(
                path: path,
                reason: "reaches beyond the picture: left + width or top + height is over 1"
            )
        }
    }
}
