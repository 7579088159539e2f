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
