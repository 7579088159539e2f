internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// A second picture drawn over the first.
struct OverlayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Draw this picture over the thumbnail, such as a watermark: a path or URL.",
            valueName: "source"
        ),
        completion: .file()
    )
    var overlay: String?

    @Option(
        help: ArgumentHelp(
            "The place of the overlay: a compass point or x,y. (default: southeast)",
            valueName: "gravity"
        ),
        completion: .list(Rendition.Gravity.words.filter { !$0.isSmart }.compactMap(\.word)),
        transform: RenditionArgument.gravity
    )
    var overlayGravity: Rendition.Gravity?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The opacity of the overlay, 0 to 1. (default: 1)", valueName: "share")
    )
    var overlayOpacity: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Scale the overlay to this share of the thumbnail's width and height, 0.01 to 1. (default: its own size)",
            valueName: "share"
        )
    )
    var overlayScale: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The distance from the edges in pixels, 0 to 4096. (default: 0)", valueName: "pixels")
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
