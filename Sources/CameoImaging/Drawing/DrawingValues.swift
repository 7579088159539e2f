internal import CameoModel
internal import Foundation

/// The values of a drawing, of which each custom property has one, everywhere.
struct DrawingValues {
    private var variables: [String: String] = [:]
    /// Whether there is anything to compute.
    private let isNeeded: Bool

    static let functions = ["var(", "calc("] + DrawingColor.functions

    /// `found` are the functions that the text has, among others.
    init(in text: [UInt8], _ found: Set<String>) {
        isNeeded = Self.functions.contains(where: found.contains)
        guard found.contains("var(") else { return }
        var several: Set<String> = []
        for part in String(decoding: text, as: UTF8.self).components(separatedBy: "--").dropFirst() {
            let name = String(part.prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
            let behind = part.dropFirst(name.count).drop(while: \.isWhitespace)
            guard behind.first == ":" else { continue }
            let text = behind.dropFirst().prefix { !";}\"'<".contains($0) }
            let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if let known = variables[name], known != value { several.insert(name) }
            if value.utf8.count < 256 { variables[name] = value }
        }
        for name in several { variables[name] = nil }
    }

    /// The value of a property with its functions computed; nil if it has none, or one that is not known.
    func computed(_ value: String, of name: String) -> String? {
        guard isNeeded else { return nil }
        var (text, left) = (value, 16)
        for function in Self.functions {
            while let start = text.range(of: function) {
                left -= 1
                guard left > 0, let end = StyleSheet.closing(text[start.upperBound...]) else { return nil }
                let inside = String(text[start.upperBound..<end])
                let plain =
                    switch function {
                    case "var(": known(inside)
                    case "calc(": Sum(inside)?.text
                    // A gradient goes on outside of sRGB.
                    default:
                        DrawingColor(function + inside + ")").flatMap {
                            name == "stop-color" && !$0.isShown ? nil : $0.text
                        }
                    }
                guard let plain else { return nil }
                text.replaceSubrange(start.lowerBound...end, with: plain)
            }
        }
        return text == value ? nil : text
    }

    /// The value of a variable, or what there is in its place.
    private func known(_ inside: String) -> String? {
        let parts = inside.split(separator: ",", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        return parts.first.flatMap { variables[String($0.dropFirst(2))] } ?? parts.dropFirst().first
    }

    /// A sum of products of numbers, all of one unit or none (CSS Values 3, 8.1).
    private struct Sum {
        private var rest: Substring
        private(set) var text = ""

        init?(_ text: String) {
            rest = text[...]
            // Brackets that lie in each other are computed by recursion.
            guard text.utf8.count < 256, let (number, unit) = value(), rest.allSatisfy(\.isWhitespace), number.isFinite
            else { return nil }
            self.text = number.plain + unit
        }

        private mutating func sign(_ signs: String) -> Character? {
            rest = rest.drop(while: \.isWhitespace)
            return rest.first.flatMap { signs.contains($0) ? rest.removeFirst() : nil }
        }

        /// The signs that bind least come first.
        private mutating func value(_ signs: [String] = ["+-", "*/"]) -> (Double, String)? {
            guard let own = signs.first else { return factor() }
            guard var total = value(Array(signs.dropFirst())) else { return nil }
            while let sign = sign(own) {
                guard let next = value(Array(signs.dropFirst())) else { return nil }
                switch sign {
                case "+" where next.1 == total.1: total.0 += next.0
                case "-" where next.1 == total.1: total.0 -= next.0
                case "*" where next.1.isEmpty || total.1.isEmpty: total = (total.0 * next.0, total.1 + next.1)
                case "/" where next.1.isEmpty: total.0 /= next.0
                default: return nil
                }
            }
            return total
        }

        private mutating func factor() -> (Double, String)? {
            if sign("(") != nil {
                let inner = value()
                return sign(")") == nil ? nil : inner
            }
            let isNegative = sign("-") != nil
            let digits = rest.prefix { $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isLetter || $0 == "%" }
            rest = rest.dropFirst(unit.count)
            return Double(digits).map { (isNegative ? -$0 : $0, String(unit)) }
        }
    }
}

extension Double {
    /// As it is written in a drawing, with up to four places.
    fileprivate var plain: String {
        let text = "\((self * 10_000).rounded() / 10_000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// A colour of constants (CSS Color 4 and 5) that librsvg does not know, in sRGB, which it may exceed.
struct DrawingColor {
    private var color: [Double]
    private var opacity = 1.0

    static let functions = ["color-mix(", "light-dark(", "oklab(", "oklch("]
    private static let names = [
        "black": "#000", "white": "#fff", "red": "#f00", "lime": "#0f0", "blue": "#00f", "yellow": "#ff0",
        "cyan": "#0ff",
        "magenta": "#f0f", "gray": "#808080", "green": "#008000", "orange": "#ffa500", "navy": "#000080",
        "transparent": "#0000",
    ]

    /// Whether sRGB has it, by half a step of 8 bits.
    var isShown: Bool { color.allSatisfy { (-0.002...1.002).contains($0) } }

    var text: String {
        let bytes = color.map { "\(Int((min(1, max(0, $0)) * 255).rounded()))" }
        return "rgba(\(bytes.joined(separator: ",")),\(opacity.plain))"
    }

    /// Nil if it is none, or of another kind.
    init?(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        if let known = Color(Self.names[text] ?? text) {
            color = [known.red, known.green, known.blue].map { Double($0) / 255 }
            opacity = Double(known.alpha) / 255
            return
        }
        guard let open = text.firstIndex(of: "("), text.last == ")", text.utf8.count < 256 else { return nil }
        let (name, inside) = (text[..<open], text[open...].dropFirst().dropLast())
        if name == "color-mix" || name == "light-dark" {
            let parts = StyleSheet.split(String(inside), at: ",")
            // A picture in a page is light.
            guard let made = name == "color-mix" ? Self.mixed(parts) : DrawingColor(parts.first ?? "") else {
                return nil
            }
            self = made
            return
        }
        let (isCoded, words) = (name.hasPrefix("rgb"), inside.split { ",/".contains($0) || $0.isWhitespace })
        let numbers = words.enumerated().compactMap { index, word -> Double? in
            // What 100 % is.
            let whole = index == 3 ? 1 : isCoded ? 255 : index == 0 ? 1 : 0.4
            if word.hasSuffix("%") { return Double(word.dropLast()).map { $0 / 100 * whole } }
            return Double(word.hasSuffix("deg") ? word.dropLast(3) : word == "none" ? "0" : word)
        }
        guard isCoded || name.hasPrefix("okl"), numbers.count == words.count, (3...4).contains(words.count) else {
            return nil
        }
        let (radius, angle) = (numbers[1], numbers[2] / 180 * .pi)
        let lab = name == "oklch" ? [numbers[0], radius * cos(angle), radius * sin(angle)] : numbers
        color = isCoded ? numbers.prefix(3).map { $0 / 255 } : Self.sRGB(lab)
        opacity = numbers.count == 4 ? min(1, max(0, numbers[3])) : 1
        guard numbers.allSatisfy(\.isFinite), color.allSatisfy(\.isFinite) else { return nil }
    }

    /// Two colours, each with its share, in a space (CSS Color 5, 3).
    private static func mixed(_ parts: [String]) -> DrawingColor? {
        var (colors, shares): ([DrawingColor], [Double?]) = ([], [])
        for part in parts.dropFirst() {
            let words = part.split(separator: " ")
            let share = words.last { $0.hasSuffix("%") }
            guard let color = DrawingColor(words.filter { $0 != share }.joined(separator: " ")) else { return nil }
            colors.append(color)
            shares.append(share.flatMap { Double($0.dropLast()) }.map { $0 / 100 })
        }
        guard colors.count == 2, ["in srgb", "in oklab"].contains(parts[0]) else { return nil }
        let first = shares[0] ?? shares[1].map { 1 - $0 } ?? 0.5
        let weights = zip([first, shares[1] ?? 1 - first], colors).map { max(0, $0) * $1.opacity }
        let (sum, all) = (weights[0] + weights[1], first + (shares[1] ?? 1 - first))
        guard sum > 0, all > 0 else { return nil }
        let values = colors.map { parts[0] == "in srgb" ? $0.color : $0.lab }
        let mixed = (0..<3).map { (values[0][$0] * weights[0] + values[1][$0] * weights[1]) / sum }
        var result = colors[0]
        (result.color, result.opacity) = (parts[0] == "in srgb" ? mixed : sRGB(mixed), sum / max(1, all))
        return result
    }

    /// Oklab's cones of light in BT.709's primaries, and its coordinates of their roots (https://bottosson.github.io/posts/oklab/).
    private static let cones = CodedColor.Primaries.Matrix(rows: [
        0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
        0.6299787005,
    ])
    private static let coordinates = CodedColor.Primaries.Matrix(rows: [
        0.2104542553, 0.7936177850, -0.0040720468, 1.9779984951, -2.4285922050, 0.4505937099, 0.0259040371,
        0.7827717662, -0.8086757660,
    ])

    private var lab: [Double] {
        Self.coordinates.applied(to: Self.cones.applied(to: color.map(SRGB.linear)).map { cbrt($0) })
    }

    private static func sRGB(_ lab: [Double]) -> [Double] {
        let roots = coordinates.inverse?.applied(to: lab).map { $0 * $0 * $0 } ?? []
        return cones.inverse?.applied(to: roots).map(SRGB.encoded) ?? []
    }
}
