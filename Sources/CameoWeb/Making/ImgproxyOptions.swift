internal import CameoModel
internal import Foundation
internal import HTTPTypes

// DESIGN. A site that moves keeps its templates, so an option means here what it means to imgproxy, or it is refused by
// name: a thumbnail that merely resembles the old one would go unnoticed. Options that only tell imgproxy to do what
// Cameo always does are accepted.

/// The processing options of an imgproxy URL.
struct ImgproxyOptions {
    private enum ResizingType: String {
        case fit, fill, force
    }

    private var type = ResizingType.fit
    private var width = 0
    private var height = 0
    private var enlarge = false
    private var extend = false
    private var extendGravity = Rendition.Gravity.center
    private var gravity = Rendition.Gravity.center
    /// What depends on no other option.
    private var asked = Rendition(format: .source)
    private var quality: Int?
    private var maxBytes: Int?
    private var keepsCopyright = false
    /// When the URL expires, in seconds since 1970; nil: never.
    private(set) var expires: Int64?

    /// Applies an option as it stands in a URL, such as `resize:fill:300:400`.
    mutating func apply(_ text: String) throws(Problem) {
        let words = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        var arguments = Arguments(option: words[0], words: words.dropFirst())
        switch arguments.option {
        case "resize", "rs":
            try setType(&arguments)
            try setSize(&arguments)
        case "size", "s": try setSize(&arguments)
        case "resizing_type", "rt": try setType(&arguments)
        case "width", "w": width = try arguments.integer() ?? width
        case "height", "h": height = try arguments.integer() ?? height
        case "enlarge", "el": enlarge = arguments.bool() ?? enlarge
        case "extend", "ex": try setExtend(&arguments)
        case "gravity", "g": gravity = try arguments.gravity() ?? gravity
        case "dpr": asked.dpr = try arguments.number() ?? asked.dpr
        case "format", "f", "ext": asked.format = try arguments.format() ?? asked.format
        case "quality", "q": quality = try arguments.integer().flatMap { $0 == 0 ? nil : $0 }
        case "max_bytes", "mb": maxBytes = try arguments.integer().flatMap { $0 == 0 ? nil : $0 }
        case "background", "bg": asked.background = try arguments.color()
        case "blur", "bl": asked.look.blur = try arguments.number().flatMap { $0 == 0 ? nil : $0 }
        case "sharpen", "sh": asked.look.sharpen = try arguments.number().flatMap { $0 == 0 ? nil : $0 }
        case "rotate", "rot": asked.rotate = try arguments.rotation() ?? asked.rotate
        case "trim", "t": asked.trim = try arguments.number().map { Int($0.rounded()) }
        case "page", "pg": asked.page = try arguments.integer() ?? asked.page
        case "keep_copyright", "kcr": keepsCopyright = arguments.bool() ?? keepsCopyright
        case "expires", "exp": expires = try arguments.integer().flatMap { $0 == 0 ? nil : Int64($0) }
        // Cameo always does these, and gives each set of bytes a URL of its own.
        case "auto_rotate", "ar", "strip_metadata", "sm", "strip_color_profile", "scp":
            guard arguments.bool() != false else { throw arguments.refusal("cannot be turned off") }
        case "cachebuster", "cb": _ = arguments.next()
        default: throw arguments.refusal("is not supported")
        }
        try arguments.expectEnd()
    }

    private mutating func setType(_ arguments: inout Arguments) throws(Problem) {
        guard let word = arguments.next() else { return }
        guard let type = ResizingType(rawValue: word) else {
            throw arguments.refusal("the resizing type \"\(word)\" is not supported, only fit, fill and force")
        }
        self.type = type
    }

    private mutating func setSize(_ arguments: inout Arguments) throws(Problem) {
        width = try arguments.integer() ?? width
        height = try arguments.integer() ?? height
        enlarge = arguments.bool() ?? enlarge
        try setExtend(&arguments)
    }

    private mutating func setExtend(_ arguments: inout Arguments) throws(Problem) {
        extend = arguments.bool() ?? extend
        extendGravity = try arguments.gravity() ?? extendGravity
    }

    /// - Throws: ``Problem`` for options that do not go together; `InvalidRequest` for numbers out of range.
    func rendition() throws -> Rendition {
        guard width > 0 || height > 0 else {
            // The picture keeps its size, up to the largest that a box may have.
            let edge = Rendition.edgeRange.upperBound
            var conversion = self
            (conversion.width, conversion.height, conversion.type, conversion.asked.dpr) = (edge, edge, .fit, 1)
            (conversion.enlarge, conversion.extend) = (false, false)
            return try conversion.rendition()
        }
        let hasBox = width > 0 && height > 0
        guard type != .force || hasBox else {
            throw Problem(.badRequest, "imgproxy option \"resizing_type\": force needs a width and a height")
        }
        guard !extend || type == .fit && hasBox else {
            let reason = "imgproxy option \"extend\": is supported for fit with a width and a height only"
            throw Problem(.badRequest, reason)
        }
        let box = (width: width > 0 ? width : nil, height: height > 0 ? height : nil)
        let fit: Rendition.Fit = type == .force ? .fill : type == .fill ? .cover : extend ? .contain : .inside
        var rendition = asked
        rendition.name = Rendition(width: box.width, height: box.height, fit: fit, format: asked.format).name
        (rendition.width, rendition.height, rendition.fit) = (box.width, box.height, fit)
        rendition.withoutEnlargement = !enlarge
        // Elsewhere it has no effect, in imgproxy either.
        if hasBox, type == .fill { rendition.gravity = gravity }
        if extend { rendition.gravity = extendGravity }
        if rendition.objection(to: .quality) == nil { rendition.quality = quality }
        if rendition.objection(to: .maxBytes) == nil { rendition.encoding.maxBytes = maxBytes }
        if keepsCopyright, rendition.objection(to: .keep) == nil { rendition.encoding.keep = [.copyright] }
        try rendition.validate(at: "")
        return rendition
    }
}

/// The arguments of one option, which are consumed from left to right. An empty or missing one is nil.
private struct Arguments {
    let option: String
    var words: ArraySlice<String>

    func refusal(_ reason: String) -> Problem {
        Problem(.badRequest, "imgproxy option \"\(option)\": \(reason)", code: .requestInvalid)
    }

    mutating func next() -> String? {
        guard let word = words.popFirst(), !word.isEmpty else { return nil }
        return word
    }

    func expectEnd() throws(Problem) {
        if let word = words.first(where: { !$0.isEmpty }) { throw refusal("the argument \"\(word)\" is not supported") }
    }

    mutating func integer() throws(Problem) -> Int? {
        guard let word = next() else { return nil }
        guard let number = Int(word), number >= 0 else { throw refusal("\"\(word)\" is not a whole number") }
        return number
    }

    mutating func number() throws(Problem) -> Double? {
        guard let word = next() else { return nil }
        guard let number = Double(word), number >= 0, number <= 1_000_000 else {
            throw refusal("\"\(word)\" is not a number")
        }
        return number
    }

    mutating func bool() -> Bool? { next().map { ["1", "t", "true"].contains($0) } }

    mutating func gravity() throws(Problem) -> Rendition.Gravity? {
        guard let word = next() else { return nil }
        switch word {
        case "sm": return .attention
        case "fp":
            guard let x = try number(), let y = try number(), x <= 1, y <= 1 else {
                throw refusal("a focus point has two fractions, such as fp:0.5:0.3")
            }
            return .focus(Rendition.FocalPoint(x: x, y: y))
        default:
            let names: [String: Rendition.Gravity] = [
                "ce": .center, "no": .north, "noea": .northeast, "ea": .east, "soea": .southeast, "so": .south,
                "sowe": .southwest, "we": .west, "nowe": .northwest,
            ]
            guard let gravity = names[word] else { throw refusal("the gravity \"\(word)\" is not supported") }
            let (x, y) = (try number() ?? 0, try number() ?? 0)
            guard x == 0, y == 0 else { throw refusal("offsets of a gravity are not supported") }
            return gravity
        }
    }

    mutating func format() throws(Problem) -> Rendition.Format? {
        guard let word = next() else { return nil }
        guard let format = Rendition.Format(word: word), format != .auto, format != .source else {
            throw refusal("the format \"\(word)\" is not supported")
        }
        return format
    }

    /// `255:0:0` or `ff0000`; nil without arguments.
    mutating func color() throws(Problem) -> Color? {
        guard let first = next() else { return nil }
        guard !words.isEmpty else {
            guard [3, 6].contains(first.count), let color = Color("#\(first)") else {
                throw refusal("\"\(first)\" is not a colour")
            }
            return color
        }
        guard let green = next(), let blue = next(), let red = UInt8(first), let green = UInt8(green),
            let blue = UInt8(blue)
        else { throw refusal("a colour has three numbers from 0 to 255") }
        return Color(red: red, green: green, blue: blue, alpha: 255)
    }

    mutating func rotation() throws(Problem) -> Rendition.Rotation? {
        guard let angle = try integer() else { return nil }
        guard let rotation = Rendition.Rotation(rawValue: angle % 360) else {
            throw refusal("must be a multiple of 90")
        }
        return rotation
    }
}
