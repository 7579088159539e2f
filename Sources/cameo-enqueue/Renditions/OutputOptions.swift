internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// How the pixels are encoded.
struct OutputOptions: ParsableArguments {
    @Option(help: "The output format; auto is WebP. (default: auto)".taking("format"))
    var format: Rendition.Format?

    @Option(parsing: .unconditional, help: "The quality, 1 to 100. (default: the format's own)".taking("quality"))
    var quality: Int?

    /// What the encoders of some formats can do.
    enum Choice: String, CaseIterable {
        case lossless, nearLossless = "near-lossless", progressive, palette
        case fullChroma = "4:4:4", quarterChroma = "4:2:0"
    }

    @Option(
        help: """
            Comma-separated: lossless (\(formats(.lossless))); near-lossless, which adjusts pixels a little first, by \
            the quality (\(formats(.nearLossless))); progressive (\(formats(.progressive))); palette, of at most 256 \
            colours (\(formats(.palette))); 4:4:4 or 4:2:0, the chroma subsampling (\(formats(.chromaSubsampling)); by \
            the quality if not given). Repeatable.
            """.taking("choices"),
        completion: .list(Choice.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var encoding: [Set<Choice>] = []

    @Option(
        parsing: .unconditional,
        help: """
            The effort, 1 (fast) to 9 (small), for \(formats(.effort, " and ")). (default: the format's own)
            """.taking("effort")
    )
    var effort: Int?

    @Option(
        parsing: .unconditional,
        help: "Lower the quality until the file has at most this size (60K).".taking("size")
    )
    var maxBytes: ByteCount?

    @Flag(help: "Keep all frames of an animation, or show ten of a video (\(formats(.animated))).")
    var animated = false

    /// What of the source's a thumbnail may keep: its metadata, by their names, or its colours.
    enum Kept: String, CaseIterable {
        case copyright, exif, gps, icc, profile, xmp
    }

    @Option(
        help: """
            Keep this metadata, a comma-separated list of copyright,exif,gps,icc,xmp; or profile, the source's colour \
            profile instead of sRGB. Repeatable. (default: none)
            """.taking("kinds"),
        completion: .list(Kept.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var keep: [Set<Kept>] = []

    /// Applies all options except the format; first those that decide whether there is a quality.
    func apply(to renditions: inout [Rendition]) {
        func apply(_ option: Rendition.EncodingOption, _ set: (inout Rendition) -> Void) {
            renditions.change(set) { $0.objection(to: option) }
        }
        let choices = Set(encoding.joined())
        if choices.contains(.palette) { apply(.palette) { $0.encoding.palette = true } }
        if choices.contains(.lossless) { apply(.lossless) { $0.encoding.lossless = true } }
        if choices.contains(.nearLossless) { apply(.nearLossless) { $0.encoding.nearLossless = true } }
        if animated { apply(.animated) { $0.encoding.animated = true } }
        if choices.contains(.progressive) { apply(.progressive) { $0.encoding.progressive = true } }
        let kept = Set(keep.joined())
        if kept.contains(.profile) { apply(.keepProfile) { $0.encoding.keepProfile = true } }
        if let quality { apply(.quality) { $0.quality = $0.quality ?? quality } }
        if let effort { apply(.effort) { $0.encoding.effort = effort } }
        for chroma in Rendition.Encoding.ChromaSubsampling.allCases
        where choices.contains(where: { $0.rawValue == chroma.rawValue }) {
            apply(.chromaSubsampling) { $0.encoding.chromaSubsampling = chroma }
        }
        if let maxBytes { apply(.maxBytes) { $0.encoding.maxBytes = maxBytes.bytes } }
        let metadata = Set(kept.compactMap { Rendition.Encoding.Metadata(rawValue: $0.rawValue) })
        if !metadata.isEmpty { apply(.keep) { $0.encoding.keep = metadata } }
    }
}

private func formats(_ option: Rendition.EncodingOption, _ last: String = ", ") -> String { option.formatNames(last) }
