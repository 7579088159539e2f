internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// A second picture drawn over the first.
struct OverlayOptions: ParsableArguments {
    @Option(
        help: .value("source", "Draw this picture over the thumbnail, such as a watermark: a path or URL."),
        completion: .file()
    )
    var overlay: String?

    @Option(
        help: .value("gravity", "The place of the overlay: a compass point or x,y. (default: southeast)"),
        completion: .list(Rendition.Gravity.words.filter { !$0.isSmart }.compactMap(\.word)),
        transform: RenditionArgument.gravity
    )
    var overlayGravity: Rendition.Gravity?

    @Option(parsing: .unconditional, help: .value("share", "The opacity of the overlay, 0 to 1. (default: 1)"))
    var overlayOpacity: Double?

    @Option(
        parsing: .unconditional,
        help: .value(
            "share",
            "Scale the overlay to this share of the thumbnail's width and height, 0.01 to 1. (default: its own size)"
        )
    )
    var overlayScale: Double?

    @Option(
        parsing: .unconditional,
        help: .value("pixels", "The distance from the edges in pixels, 0 to 4096. (default: 0)")
    )
    var overlayMargin: Int?

    func made() -> Rendition.Overlay? {
        guard let overlay else { return nil }
        return Rendition.Overlay(
            source: SourceArgument.one(overlay).source,
            gravity: overlayGravity ?? .southeast,
            opacity: overlayOpacity ?? 1,
            scale: overlayScale,
            margin: overlayMargin ?? 0
        )
    }
}
