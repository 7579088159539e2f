internal import CameoModel

extension PictureFacts {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        self.init(
            format: try reader.choice("format", PictureFormat.self),
            width: try reader.integer("width", in: 1...10_000_000),
            height: try reader.integer("height", in: 1...10_000_000),
            pages: try reader.integer("pages", in: 1...10_000_000),
            hasAlpha: try reader.bool("hasAlpha")
        )
    }

    var json: JSONValue {
        .object([
            "format": .string(format.rawValue),
            "width": .integer(Int64(width)),
            "height": .integer(Int64(height)),
            "pages": .integer(Int64(pages)),
            "hasAlpha": .bool(hasAlpha),
        ])
    }
}
