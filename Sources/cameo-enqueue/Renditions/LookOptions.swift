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
        parsing: .unconditionalSingleValue,
        help: """
            Round the corners by pixels (20), a percentage of the shorter edge (25%), or to a circle (circle); with \
            corners, a list of \(Rendition.Look.Corner.allWords), only these: 20,corners=topLeft,topRight.
            """.taking("radius"),
        transform: Change.reading([
            NamedValue("", \.cornerRadius) { try RenditionArgument.cornerRadius($0) },
            NamedValue("corners", \.corners) { try RenditionArgument.words($0) },
        ])
    )
    var cornerRadius: [Change<Rendition.Look>] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: """
            Draw a border of this width in pixels over the edges, in a colour if it is not to be black: 2,color=#rrggbb.
            """.taking("pixels"),
        transform: Change.reading([
            NamedValue("", \.border), NamedValue("color", \.borderColor) { try RenditionArgument.color($0) },
        ])
    )
    var border: [Change<Rendition.Look>] = []

    @Option(parsing: .unconditional, help: "Blur with this standard deviation in pixels, 0.3 to 100.".taking("sigma"))
    var blur: Double?

    @Option(parsing: .unconditional, help: "Sharpen with this standard deviation in pixels, 0.1 to 10.".taking("sigma"))
    var sharpen: Double?

    @Option(
        parsing: .unconditionalSingleValue,
        help: """
            Multiply brightness, contrast or saturation by 0 to 10: brightness=1.2,contrast=0.9. Repeatable. (default: 1)
            """.taking("what=factor"),
        transform: Change.reading([
            NamedValue("brightness", \.brightness), NamedValue("contrast", \.contrast),
            NamedValue("saturation", \.saturation),
        ])
    )
    var adjust: [Change<Rendition.Look>] = []

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
        help: """
            How the overlay is drawn: gravity, a compass point or x,y (southeast); opacity, 0 to 1 (1); scale, its share of \
            the thumbnail's width and height, 0.01 to 1 (its own size); margin, pixels from the edges, 0 to 4096 (0). \
            Repeatable.
            """.taking("what=value"),
        transform: Change.reading([
            NamedValue("gravity", \.gravity) { try RenditionArgument.gravity($0) }, NamedValue("opacity", \.opacity),
            NamedValue("scale", \.scale), NamedValue("margin", \.margin),
        ])
    )
    var overlayStyle: [Change<Rendition.Overlay>] = []

    func validate() throws {
        guard overlay != nil || overlayStyle.isEmpty else { throw ValidationError("--overlay-style needs --overlay") }
        guard overlay != "" else { throw ValidationError("--overlay: must be a path or a URI, but is empty") }
    }

    func apply(to rendition: inout Rendition) {
        rendition.background = background
        for changes in [cornerRadius, border, adjust] { changes.apply(to: &rendition.look) }
        rendition.look.blur = blur
        rendition.look.sharpen = sharpen
        rendition.look.grayscale = grayscale
        rendition.look.tint = tint
        guard let overlay else { return }
        var drawn = Rendition.Overlay(source: SourceArgument(Array(overlay.utf8)).source)
        overlayStyle.apply(to: &drawn)
        rendition.look.overlay = drawn
    }
}
