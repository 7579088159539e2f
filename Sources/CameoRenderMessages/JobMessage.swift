package import CameoModel

/// What the worker asks of a renderer; the source's descriptor travels beside it.
package struct JobMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.job

    package let renditions: [Rendition]
    /// Width × height of the source, and of every rendition before it is cut.
    package let maximumPixels: Int

    package init(renditions: [Rendition], maximumPixels: Int) {
        self.renditions = renditions
        self.maximumPixels = maximumPixels
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        maximumPixels = try reader.integer("maximumPixels", in: 1...Int.max)
        var renditions: [Rendition] = []
        for value in try reader.array("renditions", maximumCount: ThumbnailRequest.maximumRenditions) {
            do throws(InvalidRequest) {
                renditions.append(try Rendition(json: value, at: "renditions"))
            } catch {
                throw MalformedMessage("\(error)")
            }
        }
        guard !renditions.isEmpty else { throw MalformedMessage("a job needs at least one rendition") }
        self.renditions = renditions
    }

    package var json: JSONValue {
        .object([
            "renditions": .array(renditions.map(\.json)),
            "maximumPixels": .integer(Int64(maximumPixels)),
        ])
    }
}
