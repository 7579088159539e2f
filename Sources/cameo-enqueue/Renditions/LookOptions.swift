internal import ArgumentParser
internal import CameoModel

/// Changes to the pixels after resizing.
struct LookOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The colour behind transparent pixels, padding and rounded corners: #rrggbb or #rrggbbaa.",
            valueName: "color"
        ),
        transform: RenditionArgument.color
    )
    var background: Color?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Round the corners by pixels (20), a percentage of the shorter edge (25%), or to a circle (circle).",
            valueName: "radius"
        ),
        transform: RenditionArgument.cornerRadius
    )
    var cornerRadius: Rendition.Look.CornerRadius?

    @Option(
        help: ArgumentHelp(
            "The corners to round, a comma-separated list of topLeft,topRight,bottomRight,bottomLeft. (default: all)",
            valueName: "corners"
        ),
        completion: .list(Rendition.Look.Corner.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var corners: Set<Rendition.Look.Corner>?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Draw a border of this width in pixels over the edges.", valueName: "pixels")
    )
    var border: Int?

    @Option(
        help: ArgumentHelp("The border's colour: #rrggbb or #rrggbbaa. (default: black)", valueName: "color"),
        transform: RenditionArgument.color
    )
    var borderColor: Color?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Blur with this standard deviation in pixels, 0.3 to 100.", valueName: "sigma")
    )
    var blur: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Sharpen with this standard deviation in pixels, 0.1 to 10.", valueName: "sigma")
    )
    var sharpen: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Multiply the brightness, 0 to 10. (default: 1)", valueName: "factor")
    )
    var brightness: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Multiply the contrast, 0 to 10. (default: 1)", valueName: "factor")
    )
    var contrast: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Multiply the saturation, 0 to 10. (default: 1)", valueName: "factor")
    )
    var saturation: Double?

    @Flag(help: "Convert to greyscale.")
    var grayscale = false

    @Option(
        help: ArgumentHelp("Tint with this colour: keep the lightness, replace every hue.", valueName: "color"),
        transform: RenditionArgument.color
    )
    var tint: Color?

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
    }
}
