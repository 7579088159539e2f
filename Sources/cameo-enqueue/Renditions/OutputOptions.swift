internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// How the pixels are encoded.
struct OutputOptions: ParsableArguments {
    @Option(help: "The output format; auto is WebP. (default: auto)".taking("format"))
    var format: Rendition.Format?

    @Option(parsing: .unconditional, help: "The quality, 1 to 100. (default: the format's own)".taking("quality"))
    var quality: Int?

    @Flag(help: "Encode without loss (WebP, AVIF).")
    var lossless = false

    @Flag(help: "Encode nearly without loss: adjust pixels a little first, by the quality (WebP).")
    var nearLossless = false

    @Option(
        parsing: .unconditional,
        help: """
            The effort, 1 (fast) to 9 (small), for PNG, WebP, AVIF and GIF. (default: the format's own)
            """.taking("effort")
    )
    var effort: Int?

    @Flag(help: "Write a progressive file (JPEG).")
    var progressive = false

    @Option(help: "The chroma subsampling (JPEG, AVIF). (default: by the quality)".taking("subsampling"))
    var chromaSubsampling: Rendition.Encoding.ChromaSubsampling?

    @Flag(help: "Use a palette of at most 256 colours (PNG).")
    var palette = false

    @Option(
        parsing: .unconditional,
        help: "Lower the quality until the file has at most this size (60K).".taking("size")
    )
    var maxBytes: ByteCount?

    @Flag(help: "Keep all frames of an animation, or show ten of a video (WebP, GIF).")
    var animated = false

    @Flag(help: "Keep the source's colour profile instead of converting to sRGB.")
    var keepProfile = false

    @Option(
        help: """
            Keep this metadata, a comma-separated list of copyright,exif,gps,icc,xmp. (default: none)
            """.taking("kinds"),
        completion: .list(Rendition.Encoding.Metadata.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var keep: Set<Rendition.Encoding.Metadata>?

    /// Applies all options except the format; first those that decide whether there is a quality.
    func apply(to renditions: inout [Rendition]) {
        func apply(_ option: Rendition.EncodingOption, _ set: (inout Rendition) -> Void) {
            renditions.change(set) { $0.objection(to: option) }
        }
        if palette { apply(.palette) { $0.encoding.palette = true } }
        if lossless { apply(.lossless) { $0.encoding.lossless = true } }
        if nearLossless { apply(.nearLossless) { $0.encoding.nearLossless = true } }
        if animated { apply(.animated) { $0.encoding.animated = true } }
        if progressive { apply(.progressive) { $0.encoding.progressive = true } }
        if keepProfile { apply(.keepProfile) { $0.encoding.keepProfile = true } }
        if let quality { apply(.quality) { $0.quality = $0.quality ?? quality } }
        if let effort { apply(.effort) { $0.encoding.effort = effort } }
        if let chromaSubsampling {
            apply(.chromaSubsampling) { $0.encoding.chromaSubsampling = chromaSubsampling }
        }
        if let maxBytes { apply(.maxBytes) { $0.encoding.maxBytes = maxBytes.bytes } }
        if let keep { apply(.keep) { $0.encoding.keep = keep } }
    }
}
