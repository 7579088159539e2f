internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

/// The part of the picture that is used, and its size.
struct GeometryOptions: ParsableArguments {
    @Option(
        help: """
            A box in pixels (256x256, 1024x, x600), optionally with its own fit, format or quality after colons: \
            256x256:cover:webp:q75. Repeatable; all sizes share one decode. (default: 256x256)
            """.taking("WxH[:…]")
    )
    var size: [String] = []

    @Option(help: "How the picture is fitted into the box. (default: inside)".taking("fit"))
    var fit: Rendition.Fit?

    @Flag(help: "Enlarge pictures that are smaller than the box.")
    var enlarge = false

    @Option(
        help: """
            The part that cover keeps, and the place where contain puts the picture: center, north, northeast, …, or a \
            focal point x,y with each from 0 to 1; for cover also entropy or attention. (default: center)
            """.taking("gravity"),
        completion: .list(Rendition.Gravity.words.compactMap(\.word)),
        transform: RenditionArgument.gravity
    )
    var gravity: Rendition.Gravity?

    @Option(
        parsing: .unconditional,
        help: "Multiply every length by this device pixel ratio, 0.1 to 8. (default: 1)".taking("factor")
    )
    var dpr: Double?

    @Option(
        parsing: .unconditional,
        help: "The page or frame of the source, counted from 0. (default: 0)".taking("number")
    )
    var page: Int?

    @Option(
        parsing: .unconditional,
        help: """
            The moment of a video: seconds (15.5), a share of its duration (50%), auto, which avoids black, blank and \
            faded frames, or cover, the cover art. (default: auto)
            """.taking("time"),
        transform: RenditionArgument.time
    )
    var time: Rendition.FrameTime?

    @Flag(help: "Show exactly the frame at the time, not the nearest keyframe, which is found faster.")
    var accurate = false

    @Option(
        help: """
            Make a sheet of many moments of a video, of so many tiles a row and so many rows, each of which has the size; \
            at most 100 tiles. With an interval, the shortest time from tile to tile, short videos have fewer: \
            5x4,interval=2s.
            """.taking("CxR"),
        transform: Change.reading([
            NamedValue("") { try RenditionArgument.tiles($0) },
            NamedValue("interval", \.interval) { try RenditionArgument.seconds($0) },
        ])
    )
    var storyboard: [Change<Rendition.Storyboard>] = []

    @Option(
        parsing: .unconditional,
        help: "Cut off uniform borders whose pixels differ from the corner's by at most 0 to 255.".taking("threshold")
    )
    var trim: Int?

    @Option(
        parsing: .unconditional,
        help: """
            Use only a part of the picture: left,top,WIDTHxHEIGHT in pixels (10,20,300x200) or per cent \
            (10%,5%,50%x100%).
            """.taking("area"),
        transform: RenditionArgument.crop
    )
    var crop: Rendition.CropArea?

    @Option(parsing: .unconditional, help: "Rotate clockwise by this angle. (default: 0)".taking("degrees"))
    var rotate: Rendition.Rotation?

    @Option(help: "Mirror the picture.".taking("direction"))
    var flip: Rendition.Flip?

    /// Applies all options except the box and the fit, which a size may set itself, and the gravity.
    func apply(to rendition: inout Rendition) {
        rendition.withoutEnlargement = !enlarge
        rendition.dpr = dpr ?? 1
        rendition.page = page ?? 0
        rendition.time = time ?? .auto
        rendition.accurate = accurate
        if !storyboard.isEmpty {
            var sheet = Rendition.Storyboard(columns: 0, rows: 0)
            storyboard.apply(to: &sheet)
            rendition.storyboard = sheet
        }
        rendition.trim = trim
        rendition.crop = crop
        rendition.rotate = rotate ?? .none
        rendition.flip = flip
    }

    /// Applies the gravity to the sizes that are cut or padded.
    func applyGravity(to renditions: inout [Rendition]) {
        if let gravity { renditions.change({ $0.gravity = gravity }, unless: \.objectionToGravity) }
    }
}

extension [Rendition] {
    /// Applies an option, which is skipped for sizes to which it does not apply, as long as another size takes it. If none
    /// does, all sizes get it, so that their validation reports why: no option is ignored.
    mutating func change(_ set: (inout Rendition) -> Void, unless objection: (Rendition) -> String?) {
        let given = map { rendition in
            var rendition = rendition
            set(&rendition)
            return rendition
        }
        let hasTaker = given.contains { objection($0) == nil }
        for (index, rendition) in given.enumerated() where !hasTaker || objection(rendition) == nil {
            self[index] = rendition
        }
    }
}
