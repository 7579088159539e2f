internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// Changes to the pixels after resizing, and a second picture drawn over the first.
struct LookOptions: ParsableArguments {
    @Option(
        help: """
            The colour behind transparent pixels, padding and rounded corners: #rrggbb or #rrggbbaa.
            """.taking("color"),
        transform: RenditionArgument.color
    )
    var background: Color?

    @Option(
        parsing: .unconditional,
        help: """
            Round the corners by pixels (20), a percentage of the shorter edge (25%), or to a circle (circle).
            """.taking("radius"),
        transform: RenditionArgument.cornerRadius
    )
    var cornerRadius: Rendition.Look.CornerRadius?

    @Option(
        help: """
            The corners to round, a comma-separated list of topLeft,topRight,bottomRight,bottomLeft. (default: all)
            """.taking("corners"),
        completion: .list(Rendition.Look.Corner.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var corners: Set<Rendition.Look.Corner>?

    @Option(parsing: .unconditional, help: "Draw a border of this width in pixels over the edges.".taking("pixels"))
    var border: Int?

    @Option(
        help: "The border's colour: #rrggbb or #rrggbbaa. (default: black)".taking("color"),
        transform: RenditionArgument.color
    )
    var borderColor: Color?

    @Option(parsing: .unconditional, help: "Blur with this standard deviation in pixels, 0.3 to 100.".taking("sigma"))
    var blur: Double?

    @Option(parsing: .unconditional, help: "Sharpen with this standard deviation in pixels, 0.1 to 10.".taking("sigma"))
    var sharpen: Double?

    @Option(parsing: .unconditional, help: "Multiply the brightness, 0 to 10. (default: 1)".taking("factor"))
    var brightness: Double?

    @Option(parsing: .unconditional, help: "Multiply the contrast, 0 to 10. (default: 1)".taking("factor"))
    var contrast: Double?

    @Option(parsing: .unconditional, help: "Multiply the saturation, 0 to 10. (default: 1)".taking("factor"))
    var saturation: Double?

    @Flag(help: "Convert to greyscale.")
    var grayscale = false

    @Option(
        help: "Tint with this colour: keep the lightness, replace every hue.".taking("color"),
        transform: RenditionArgument.color
    )
    var tint: Color?

    @Option(
        help: "Draw this picture over the thumbnail, such as a watermark: a path or URL.".taking("source"),
        completion: .file()
    )
    var overlay: String?

    @Option(
        help: "The place of the overlay: a compass point or x,y. (default: southeast)".taking("gravity"),
        completion: .list(Rendition.Gravity.words.filter { !$0.isSmart }.compactMap(\.word)),
        transform: RenditionArgument.gravity
    )
    var overlayGravity: Rendition.Gravity?

    @Option(parsing: .unconditional, help: "The opacity of the overlay, 0 to 1. (default: 1)".taking("share"))
    var overlayOpacity: Double?

    @Option(
        parsing: .unconditional,
        help: """
            Scale the overlay to this share of the thumbnail's width and height, 0.01 to 1. (default: its own size)
            """.taking("share")
    )
    var overlayScale: Double?

    @Option(
        parsing: .unconditional,
        help: "The distance from the edges in pixels, 0 to 4096. (default: 0)".taking("pixels")
    )
    var overlayMargin: Int?

    func apply(to rendition: inout Rendition) {
        rendition.background = background
        rendition.look.cornerRadius = cornerRadius
        if let corners { rendition.look.corners = corners }
        rendition.look.border = border
        if let borderColor { rendition.look.borderColor = borderColor }
        rendition.look.blur = blur
        rendition.look.sharpen = sharpen
        rendition.look.brightness = brightness ?? 1
        rendition.look.contrast = contrast ?? 1
        rendition.look.saturation = saturation ?? 1
        rendition.look.grayscale = grayscale
        rendition.look.tint = tint
        rendition.look.overlay = overlay.map { overlay in
            Rendition.Overlay(
                source: SourceArgument(Array(overlay.utf8)).source,
                gravity: overlayGravity ?? .southeast,
                opacity: overlayOpacity ?? 1,
                scale: overlayScale,
                margin: overlayMargin ?? 0
            )
        }
    }
}
