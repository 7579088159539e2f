internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// How the pixels become bytes.
struct OutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What is written; auto is WebP. (default: auto)", valueName: "format"))
    var format: Rendition.Format?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("1 to 100. (default: the format's own)", valueName: "quality")
    )
    var quality: Int?

    @Flag(help: "WebP, AVIF: every pixel exactly as it was.")
    var lossless = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "1 (fast) to 9 (small): PNG, WebP, AVIF, GIF. (default: the format's own)",
            valueName: "effort"
        )
    )
    var effort: Int?

    @Flag(help: "JPEG: shows coarse at first when it loads slowly.")
    var progressive = false

    @Option(
        help: ArgumentHelp("JPEG, AVIF: how coarse colour is. (default: by the quality)", valueName: "subsampling")
    )
    var chromaSubsampling: Rendition.Encoding.ChromaSubsampling?

    @Flag(help: "PNG: at most 256 colours.")
    var palette = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Lowers the quality until it has at most so many bytes: 60K.", valueName: "size")
    )
    var maxBytes: ByteCount?

    @Flag(help: "WebP, GIF: all frames of an animation instead of one.")
    var animated = false

    @Flag(help: "Keeps the source's colour space, with its profile, instead of converting to sRGB.")
    var keepProfile = false

    @Option(
        help: ArgumentHelp(
            "What stays of the metadata, with commas: copyright,exif,gps,icc,xmp. (default: nothing)",
            valueName: "kinds"
        ),
        completion: .list(Rendition.Encoding.Metadata.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var keep: Set<Rendition.Encoding.Metadata>?

    /// Those that were typed.
    var given: [String] {
        [
            ("--format", format != nil), ("--quality", quality != nil), ("--lossless", lossless),
            ("--effort", effort != nil), ("--progressive", progressive),
            ("--chroma-subsampling", chromaSubsampling != nil), ("--palette", palette),
            ("--max-bytes", maxBytes != nil), ("--animated", animated), ("--keep-profile", keepProfile),
            ("--keep", keep != nil),
        ]
        .filter(\.1).map(\.0)
    }

    /// All but the format. An option passes by the sizes that have no such thing if another size takes it. If none
    /// does, all get it, so that their validation says why it has no meaning: nothing that was typed is ignored.
    func apply(to renditions: inout [Rendition]) {
        for (option, set) in settings {
            let takers = renditions.indices.filter { renditions[$0].objection(to: option) == nil }
            for index in takers.isEmpty ? Array(renditions.indices) : takers { set(&renditions[index]) }
        }
    }

    /// What was typed; first that which decides whether there is a quality.
    private var settings: [(Rendition.EncodingOption, (inout Rendition) -> Void)] {
        var settings: [(Rendition.EncodingOption, (inout Rendition) -> Void)] = []
        if palette { settings.append((.palette, { $0.encoding.palette = true })) }
        if lossless { settings.append((.lossless, { $0.encoding.lossless = true })) }
        if animated { settings.append((.animated, { $0.encoding.animated = true })) }
        if progressive { settings.append((.progressive, { $0.encoding.progressive = true })) }
        if keepProfile { settings.append((.keepProfile, { $0.encoding.keepProfile = true })) }
        if let quality { settings.append((.quality, { $0.quality = $0.quality ?? quality })) }
        if let effort { settings.append((.effort, { $0.encoding.effort = effort })) }
        if let chromaSubsampling {
            settings.append((.chromaSubsampling, { $0.encoding.chromaSubsampling = chromaSubsampling }))
        }
        if let maxBytes { settings.append((.maxBytes, { $0.encoding.maxBytes = maxBytes.bytes })) }
        if let keep { settings.append((.keep, { $0.encoding.keep = keep })) }
        return settings
    }
}
