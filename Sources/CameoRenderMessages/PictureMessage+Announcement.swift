package import CameoModel

extension PictureMessage {
    /// The description of one rendition, sent before its bytes.
    package struct Announcement: Hashable, Sendable {
        package let format: Rendition.Format
        /// The width of a frame in pixels.
        package let width: Int
        package let height: Int
        package let byteCount: Int
        package let hasAlpha: Bool
        package let frames: Int
        package let placeholder: Placeholder

        package init(_ rendition: EncodedRendition) {
            format = rendition.format
            width = rendition.width
            height = rendition.height
            byteCount = rendition.bytes.count
            hasAlpha = rendition.hasAlpha
            frames = rendition.frames
            placeholder = rendition.placeholder
        }

        init(json: JSONValue) throws(MalformedMessage) {
            let reader = try MessageReader(json)
            format = try reader.choice("format", Rendition.Format.self)
            width = try reader.integer("width", in: Rendition.edgeRange)
            height = try reader.integer("height", in: Rendition.edgeRange)
            byteCount = try reader.integer("bytes", in: 1...Int(Int32.max))
            hasAlpha = try reader.bool("hasAlpha")
            frames = try reader.integer("frames", in: 1...1_000_000)
            placeholder = try Placeholder(json: try reader.value("placeholder"))
        }

        var json: JSONValue {
            .object([
                "format": .string(format.rawValue),
                "width": .integer(Int64(width)),
                "height": .integer(Int64(height)),
                "bytes": .integer(Int64(byteCount)),
                "hasAlpha": .bool(hasAlpha),
                "frames": .integer(Int64(frames)),
                "placeholder": placeholder.json,
            ])
        }
    }
}
