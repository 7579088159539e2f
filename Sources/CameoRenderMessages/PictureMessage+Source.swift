internal import CameoModel

extension PictureMessage {
    /// What a source turned out to be.
    package struct Source: Hashable, Sendable {
        /// The renderer's word for it: `jpeg`, `png`, …
        package let format: String
        /// Pixels of the first page, upright.
        package let width: Int
        package let height: Int
        /// Pages or frames.
        package let pages: Int
        package let hasAlpha: Bool

        package init(format: String, width: Int, height: Int, pages: Int, hasAlpha: Bool) {
            self.format = format
            self.width = width
            self.height = height
            self.pages = pages
            self.hasAlpha = hasAlpha
        }

        init(json: JSONValue) throws(MalformedMessage) {
            let reader = try MessageReader(json)
            format = try reader.string("format", maximumBytes: 16)
            width = try reader.integer("width", in: 1...10_000_000)
            height = try reader.integer("height", in: 1...10_000_000)
            pages = try reader.integer("pages", in: 1...10_000_000)
            hasAlpha = try reader.bool("hasAlpha")
        }

        var json: JSONValue {
            .object([
                "format": .string(format),
                "width": .integer(Int64(width)),
                "height": .integer(Int64(height)),
                "pages": .integer(Int64(pages)),
                "hasAlpha": .bool(hasAlpha),
            ])
        }
    }
}
