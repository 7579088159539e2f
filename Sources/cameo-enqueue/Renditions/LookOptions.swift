internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// Changes to the pixels after resizing.
struct LookOptions: ParsableArguments {
    @Option(
        help: .value(
            "color",
            "The colour behind transparent pixels, padding and rounded corners: #rrggbb or #rrggbbaa."
        ),
        transform: RenditionArgument.color
    )
    var background: Color?

    @Option(
        parsing: .unconditional,
        help: .value(
            "radius",
            "Round the corners by pixels (20), a percentage of the shorter edge (25%), or to a circle (circle)."
        ),
        transform: RenditionArgument.cornerRadius
    )
    var cornerRadius: Rendition.Look.CornerRadius?

    @Option(
        help: .value(
            "corners",
            "The corners to round, a comma-separated list of topLeft,topRight,bottomRight,bottomLeft. (default: all)"
        ),
        completion: .list(Rendition.Look.Corner.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var corners: Set<Rendition.Look.Corner>?

    @Option(parsing: .unconditional, help: .value("pixels", "Draw a border of this width in pixels over the edges."))
    var border: Int?

    @Option(
        help: .value("color", "The border's colour: #rrggbb or #rrggbbaa. (default: black)"),
        transform: RenditionArgument.color
    )
    var borderColor: Color?

    @Option(parsing: .unconditional, help: .value("sigma", "Blur with this standard deviation in pixels, 0.3 to 100."))
    var blur: Double?

    @Option(
        parsing: .unconditional,
        help: .value("sigma", "Sharpen with this standard deviation in pixels, 0.1 to 10.")
    )
    var sharpen: Double?

    @Option(parsing: .unconditional, help: .value("factor", "Multiply the brightness, 0 to 10. (default: 1)"))
    var brightness: Double?

    @Option(parsing: .unconditional, help: .value("factor", "Multiply the contrast, 0 to 10. (default: 1)"))
    var contrast: Double?

    @Option(parsing: .unconditional, help: .value("factor", "Multiply the saturation, 0 to 10. (default: 1)"))
    var saturation: Double?

    @Flag(help: "Convert to greyscale.")
    var grayscale = false

    @Option(
        help: .value("color", "Tint with this colour: keep the lightness, replace every hue."),
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
