package import CameoModel

/// A job for a renderer; the descriptors of the source and of its overlays are sent with it.
package struct JobMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.job

    package let renditions: [Rendition]
    /// The URIs of the overlays as the renditions spell them, in the order of their descriptors, which follow the
    /// source's.
    package let overlays: [String]
    /// The kind of each descriptor's contents: the source's, then the overlays'.
    package let kinds: [SourceKind]
    package let limits: RenderLimits
    /// Whether a truncated source is rendered as far as it goes.
    package let toleratesTruncation: Bool

    package init(
        renditions: [Rendition],
        overlays: [String] = [],
        kinds: [SourceKind],
        limits: RenderLimits = RenderLimits(),
        toleratesTruncation: Bool = false
    ) {
        (self.renditions, self.overlays, self.kinds, self.limits) = (renditions, overlays, kinds, limits)
        self.toleratesTruncation = toleratesTruncation
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        renditions = try reader.array("renditions", maximumCount: ThumbnailRequest.maximumRenditions) {
            value throws(MalformedMessage) in
            do throws(InvalidRequest) {
                return try Rendition(json: value, at: "renditions")
            } catch {
                throw MalformedMessage("\(error)")
            }
        }
        guard !renditions.isEmpty else { throw MalformedMessage("a job needs at least one rendition") }
        overlays = try reader.strings("overlays", maximumCount: ThumbnailRequest.maximumOverlays) { $0 }
        kinds = try reader.strings("kinds", maximumCount: overlays.count + 1) { SourceKind(rawValue: $0) }
        guard kinds.count == overlays.count + 1 else {
            throw MalformedMessage("a job must name the kind of every descriptor")
        }
        limits = try RenderLimits(try MessageReader(try reader.value("limits")))
        toleratesTruncation = try reader.bool("toleratesTruncation")
    }

    package var json: JSONValue {
        .object([
            "renditions": .array(renditions.map(\.json)),
            "overlays": .array(overlays.map(JSONValue.string)),
            "kinds": .array(kinds.map { .string($0.rawValue) }),
            "limits": limits.json,
            "toleratesTruncation": .bool(toleratesTruncation),
        ])
    }
}

extension RenderLimits {
    private static var members: [(name: String, path: WritableKeyPath<RenderLimits, Int>)] {
        [
            ("pixels", \.pixels), ("edge", \.edge), ("frames", \.frames), ("animatedPixels", \.animatedPixels),
            ("drawingBytes", \.drawingBytes), ("outputBytes", \.outputBytes), ("totalOutputBytes", \.totalOutputBytes),
        ]
    }

    init(_ reader: MessageReader) throws(MalformedMessage) {
        self.init()
        for (name, path) in Self.members { self[keyPath: path] = try reader.integer(name, in: 1...Int.max) }
    }

    var json: JSONValue {
        let members = Self.members.map { ($0.name, JSONValue.integer(Int64(self[keyPath: $0.path]))) }
        return .object(Dictionary(uniqueKeysWithValues: members))
    }
}
