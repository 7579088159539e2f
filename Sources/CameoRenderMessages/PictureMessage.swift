package import CameoModel

/// A renderer's answer to a job that it carried out. The bytes of the renditions follow, in their order.
package struct PictureMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.picture

    /// One rendition, before its bytes arrive.
    package struct Announcement: Hashable, Sendable {
        package let format: Rendition.Format
        /// Pixels.
        package let width: Int
        package let height: Int
        package let byteCount: Int

        package init(format: Rendition.Format, width: Int, height: Int, byteCount: Int) {
            self.format = format
            self.width = width
            self.height = height
            self.byteCount = byteCount
        }
    }

    package let source: Source
    package let renditions: [Announcement]

    package init(source: Source, renditions: [Announcement]) {
        self.source = source
        self.renditions = renditions
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        source = try Source(json: try reader.value("source"))
        var renditions: [Announcement] = []
        for value in try reader.array("renditions", maximumCount: ThumbnailRequest.maximumRenditions) {
            let rendition = try MessageReader(value)
            let announcement = Announcement(
                format: try rendition.choice("format", Rendition.Format.self),
                width: try rendition.integer("width", in: Rendition.edgeRange),
                height: try rendition.integer("height", in: Rendition.edgeRange),
                byteCount: try rendition.integer("bytes", in: 1...Int(Int32.max))
            )
            renditions.append(announcement)
        }
        self.renditions = renditions
    }

    package var json: JSONValue {
        .object([
            "source": source.json,
            "renditions": .array(
                renditions.map { rendition in
                    .object([
                        "format": .string(rendition.format.rawValue),
                        "width": .integer(Int64(rendition.width)),
                        "height": .integer(Int64(rendition.height)),
                        "bytes": .integer(Int64(rendition.byteCount)),
                    ])
                }
            ),
        ])
    }
}
