/// How the pixels of a rendition are encoded, besides its format.
extension Rendition {
    /// Encoding options besides `format` and `quality`.
    public struct Encoding: Hashable, Sendable {
        /// The resolution of colour relative to brightness.
        public enum ChromaSubsampling: String, CaseIterable, Sendable {
            case full = "4:4:4"
            case quarter = "4:2:0"
        }

        /// Source metadata that a thumbnail may keep. Everything else is removed.
        public enum Metadata: String, CaseIterable, Sendable {
            /// Copyright and artist (EXIF).
            case copyright
            /// All EXIF except the location, the orientation (which is applied) and the embedded preview.
            case exif
            /// The location (EXIF and XMP), which no other option keeps.
            case gps
            /// The colour profile of the thumbnail's pixels.
            case icc
            /// XMP without the location.
            case xmp
        }

        package static let effortRange = 1...9
        package static let maxBytesRange = 128...67_108_864

        /// WebP and AVIF: keeps every pixel, but for the hidden colours of an animation.
        public var lossless = false
        /// WebP: without loss but for pixels that are adjusted first so that they compress better; `quality` says how little,
        /// 100 for not at all.
        public var nearLossless = false
        /// PNG, WebP, AVIF, GIF: 1 (fast) to 9 (small); nil for the format's default.
        public var effort: Int?
        /// JPEG: shows a coarse picture first while it loads.
        public var progressive = false
        /// JPEG and AVIF: nil means 4:2:0, or 4:4:4 from quality 90.
        public var chromaSubsampling: ChromaSubsampling?
        /// PNG: at most 256 colours.
        public var palette = false
        /// Lowers the quality until the thumbnail has at most this many bytes.
        public var maxBytes: Int?
        /// GIF and WebP: keeps all frames instead of one; of a video, ten moments.
        public var animated = false
        /// Keeps the source's colour space, with its profile embedded, instead of converting to sRGB.
        public var keepProfile = false
        /// The source metadata to keep.
        public var keep: Set<Metadata> = []

        /// Uses the format's defaults.
        public init() {}
    }
}

extension Rendition.Encoding {
    static let fields = [
        "lossless", "nearLossless", "effort", "progressive", "chromaSubsampling", "palette", "maxBytes", "animated",
        "keepProfile", "keep",
    ]

    init(_ reader: JSONObjectReader) throws(InvalidRequest) {
        self.init()
        lossless = try reader.bool("lossless") ?? false
        nearLossless = try reader.bool("nearLossless") ?? false
        effort = try reader.integer("effort", in: Self.effortRange)
        progressive = try reader.bool("progressive") ?? false
        chromaSubsampling = try reader.choice("chromaSubsampling", ChromaSubsampling.self)
        palette = try reader.bool("palette") ?? false
        maxBytes = try reader.integer("maxBytes", in: Self.maxBytesRange)
        animated = try reader.bool("animated") ?? false
        keepProfile = try reader.bool("keepProfile") ?? false
        keep = try reader.choices("keep", Metadata.self) ?? []
    }

    /// Adds the fields that differ from their defaults.
    func define(_ members: inout [String: JSONValue]) {
        if lossless { members["lossless"] = .bool(true) }
        if nearLossless { members["nearLossless"] = .bool(true) }
        if let effort { members["effort"] = .integer(Int64(effort)) }
        if progressive { members["progressive"] = .bool(true) }
        if let chromaSubsampling { members["chromaSubsampling"] = .string(chromaSubsampling.rawValue) }
        if palette { members["palette"] = .bool(true) }
        if let maxBytes { members["maxBytes"] = .integer(Int64(maxBytes)) }
        if animated { members["animated"] = .bool(true) }
        if keepProfile { members["keepProfile"] = .bool(true) }
        if !keep.isEmpty {
            members["keep"] = .array(Metadata.allCases.filter(keep.contains).map { .string($0.rawValue) })
        }
    }
}
