internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// A second picture drawn over the first.
struct OverlayOptions: ParsableArguments {
    @Option(
        name: .customLong("overlay"),
        help: ArgumentHelp(
            "Draw this picture over the thumbnail, such as a watermark: a path or URL.",
            valueName: "source"
        ),
        completion: .file()
    )
    var source: String?

    @Option(
        name: .customLong("overlay-gravity"),
        help: ArgumentHelp(
            "The place of the overlay: a compass point or x,y. (default: southeast)",
            valueName: "gravity"
        ),
        completion: .list(Rendition.Gravity.words.filter { !$0.isSmart }.compactMap(\.word)),
        transform: RenditionArgument.gravity
    )
    var gravity: Rendition.Gravity?

    @Option(
        name: .customLong("overlay-opacity"),
        parsing: .unconditional,
        help: ArgumentHelp("The opacity of the overlay, 0 to 1. (default: 1)", valueName: "share")
    )
    var opacity: Double?

    @Option(
        name: .customLong("overlay-scale"),
        parsing: .unconditional,
        help: ArgumentHelp(
            "Scale the overlay to this share of the thumbnail's width and height, 0.01 to 1. (default: its own size)",
            valueName: "share"
        )
    )
    var scale: Double?

    @Option(
        name: .customLong("overlay-margin"),
        parsing: .unconditional,
        help: ArgumentHelp("The distance from the edges in pixels, 0 to 4096. (default: 0)", valueName: "pixels")
    )
    var margin: Int?

    var given: [String] { (source == nil ? [] : ["--overlay"]) + details }

    private var details: [String] {
        [
            ("--overlay-gravity", gravity != nil), ("--overlay-opacity", opacity != nil),
            ("--overlay-scale", scale != nil), ("--overlay-margin", margin != nil),
        ]
        .filter(\.1).map(\.0)
    }

    func validate() throws {
        guard source != nil || details.isEmpty else { throw ValidationError("\(details[0]) needs --overlay") }
        guard source != "" else { throw ValidationError("--overlay: must be a path or a URI, but is empty") }
    }

    func overlay() -> Rendition.Overlay? {
        guard let source else { return nil }
        return Rendition.Overlay(
            source: SourceArgument.one(source).source,
            gravity: gravity ?? .southeast,
            opacity: opacity ?? 1,
            scale: scale,
            margin: margin ?? 0
        )
    }
}
