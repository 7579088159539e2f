package import CameoModel

/// A renderer's answer to a job that it has done. The bytes of the renditions follow in the same order.
package struct PictureMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.picture

    package let source: PictureFacts
    /// Whether the source was truncated, so that the renditions show only part of it.
    package let isTruncated: Bool
    package let renditions: [Announcement]

    package init(source: PictureFacts, isTruncated: Bool, renditions: [Announcement]) {
        self.source = source
        self.isTruncated = isTruncated
        self.renditions = renditions
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        source = try PictureFacts(json: try reader.value("source"))
        isTruncated = try reader.bool("isTruncated")
        var renditions: [Announcement] = []
        for value in try reader.array("renditions", maximumCount: ThumbnailRequest.maximumRenditions) {
            renditions.append(try Announcement(json: value))
        }
        self.renditions = renditions
    }

    package var json: JSONValue {
        .object([
            "source": source.json,
            "isTruncated": .bool(isTruncated),
            "renditions": .array(renditions.map(\.json)),
        ])
    }
}

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
