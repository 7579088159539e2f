internal import ArgumentParser
internal import CameoModel

/// What is done to the pixels once they have their size.
struct LookOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Behind transparent pixels, around contain and behind round corners: #rrggbb or #rrggbbaa.",
            valueName: "color"
        ),
        transform: RenditionArgument.color
    )
    var background: Color?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Rounds the corners: pixels (20), a share of the shorter edge (25%) or circle.",
            valueName: "radius"
        ),
        transform: RenditionArgument.cornerRadius
    )
    var cornerRadius: Rendition.Look.CornerRadius?

    @Option(
        help: ArgumentHelp(
            "Which corners, with commas: topLeft,topRight,bottomRight,bottomLeft. (default: all)",
            valueName: "corners"
        ),
        completion: .list(Rendition.Look.Corner.allCases.map(\.rawValue)),
        transform: RenditionArgument.words
    )
    var corners: Set<Rendition.Look.Corner>?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Blurs: standard deviation in pixels, 0.3 to 100.", valueName: "sigma")
    )
    var blur: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Sharpens: standard deviation in pixels, 0.1 to 10.", valueName: "sigma")
    )
    var sharpen: Double?

    @Option(parsing: .unconditional, help: ArgumentHelp("A factor, 0 to 10. (default: 1)", valueName: "factor"))
    var brightness: Double?

    @Option(parsing: .unconditional, help: ArgumentHelp("A factor, 0 to 10. (default: 1)", valueName: "factor"))
    var contrast: Double?

    @Option(parsing: .unconditional, help: ArgumentHelp("A factor, 0 to 10. (default: 1)", valueName: "factor"))
    var saturation: Double?

    @Flag(help: "Takes the colour out.")
    var grayscale = false

    @Option(
        help: ArgumentHelp("Keeps light and dark and takes every hue from this colour.", valueName: "color"),
        transform: RenditionArgument.color
    )
    var tint: Color?

    /// Those that were typed.
    var given: [String] {
        [
            ("--background", background != nil), ("--corner-radius", cornerRadius != nil),
            ("--corners", corners != nil), ("--blur", blur != nil), ("--sharpen", sharpen != nil),
            ("--brightness", brightness != nil), ("--contrast", contrast != nil), ("--saturation", saturation != nil),
            ("--grayscale", grayscale), ("--tint", tint != nil),
        ]
        .filter(\.1).map(\.0)
    }

    func apply(to rendition: inout Rendition) {
        rendition.background = background
        rendition.look.cornerRadius = cornerRadius
        if let corners { rendition.look.corners = corners }
        rendition.look.blur = blur
        rendition.look.sharpen = sharpen
        rendition.look.brightness = brightness ?? 1
        rendition.look.contrast = contrast ?? 1
        rendition.look.saturation = saturation ?? 1
        rendition.look.grayscale = grayscale
        rendition.look.tint = tint
    }
}
