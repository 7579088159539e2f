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
