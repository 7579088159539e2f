internal import ArgumentParser
internal import CameoModel

/// Which part of the picture, and how large.
struct GeometryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A box in pixels, 256x256, 1024x or x600, with its own fit, format or quality behind colons if it differs: \
            256x256:cover:webp:q75. Repeatable; all sizes come from one decode. (default: 256x256)
            """,
            valueName: "WxH[:…]"
        )
    )
    var size: [String] = []

    @Option(help: ArgumentHelp("How the picture fits the box. (default: inside)", valueName: "fit"))
    var fit: Rendition.Fit?

    @Flag(help: "Enlarges pictures that are smaller than the box.")
    var enlarge = false

    @Option(
        help: ArgumentHelp(
            """
            What stays when cover cuts, and where contain puts the picture: center, north, northeast, …, a focal point \
            x,y of 0 to 1 each, and for cover also entropy and attention. (default: center)
            """,
            valueName: "gravity"
        ),
        completion: .list(Rendition.Gravity.words.compactMap(\.word)),
        transform: RenditionArgument.gravity
    )
    var gravity: Rendition.Gravity?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Device pixel ratio, 0.1 to 8: multiplies every length. (default: 1)", valueName: "factor")
    )
    var dpr: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The page or frame of a source that has several, from 0. (default: 0)", valueName: "number")
    )
    var page: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Cuts uniform borders away; 0 to 255 is how far a pixel may differ from the corner's.",
            valueName: "threshold"
        )
    )
    var trim: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Works on a part of the picture: left,top,WIDTHxHEIGHT in pixels (10,20,300x200) or shares \
            (10%,5%,50%x100%).
            """,
            valueName: "area"
        ),
        transform: RenditionArgument.crop
    )
    var crop: Rendition.CropArea?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Turns it clockwise, in degrees. (default: 0)", valueName: "degrees")
    )
    var rotate: Rendition.Rotation?

    @Option(help: ArgumentHelp("Mirrors it.", valueName: "direction"))
    var flip: Rendition.Flip?

    /// Those that were typed, besides `--size`.
    var given: [String] {
        [
            ("--fit", fit != nil), ("--enlarge", enlarge), ("--gravity", gravity != nil), ("--dpr", dpr != nil),
            ("--page", page != nil), ("--trim", trim != nil), ("--crop", crop != nil), ("--rotate", rotate != nil),
            ("--flip", flip != nil),
        ]
        .filter(\.1).map(\.0)
    }

    /// All but the box and the fit, which a size may name itself, and the gravity.
    func apply(to rendition: inout Rendition) {
        rendition.withoutEnlargement = !enlarge
        rendition.dpr = dpr ?? 1
        rendition.page = page ?? 0
        rendition.trim = trim
        rendition.crop = crop
        rendition.rotate = rotate ?? .none
        rendition.flip = flip
    }

    /// Passes by the sizes of which nothing is cut or padded, if it is something to another; if to none, all get it, so
    /// that their validation says why.
    func applyGravity(to renditions: inout [Rendition]) {
        guard let gravity else { return }
        let given = renditions.map { rendition in
            var rendition = rendition
            rendition.gravity = gravity
            return rendition
        }
        let isOfUse = given.contains { $0.objectionToGravity == nil }
        for (index, rendition) in given.enumerated() where !isOfUse || rendition.objectionToGravity == nil {
            renditions[index] = rendition
        }
    }
}
