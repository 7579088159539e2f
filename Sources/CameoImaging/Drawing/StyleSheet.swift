internal import CameoModel
internal import Foundation

/// A style sheet of a drawing in the words that librsvg knows: without conditions that hold, nesting and `:is()`, and with
/// variables, sums and colours computed. What has no such words is named.
struct StyleSheet {
    /// Nil if it stays as it is, byte by byte.
    private(set) var text: String?
    private(set) var omitted: Set<PictureFacts.Part> = []
    private let values: DrawingValues

    init(_ source: String, _ values: DrawingValues) {
        self.values = values
        let items = Self.items(of: Self.withoutComments(source))
        let isNested = items.contains { $0.body?.contains("{") == true }
        let signs = ["@", ":is(", ":where(", "&", "transform-origin"] + DrawingValues.functions
        let plain = rules(items)
        text = isNested || signs.contains(where: source.contains) ? plain : nil
    }

    /// A rule or an at-rule with its body, or a declaration or a statement, which has none.
    typealias Item = (head: String, body: String?)

    /// The items of a sheet or of a body.
    private static func items(of text: String) -> [Item] {
        split(text, at: ";").map { part in
            guard let open = part.firstIndex(of: "{") else { return (part, nil) }
            let body = part[open...].dropFirst()
            let head = part[..<open].trimmingCharacters(in: .whitespacesAndNewlines)
            return (head, String(body.hasSuffix("}") ? body.dropLast() : body))
        }
    }

    /// How deep rules may lie in others, and how many selectors one may have.
    private static let (deepest, most) = (8, 256)

    private mutating func rules(_ items: [Item], within parents: [String]? = nil, depth: Int = 0) -> String {
        var text = ""
        for (head, body) in items {
            // Other sheets are files of their own, which no viewer of a picture fetches.
            guard let body else { continue }
            if head.hasPrefix("@") {
                guard let condition = isTrue(head, body) else {
                    text += "\(head){\(body)}"
                    continue
                }
                guard condition else { continue }
                guard depth < Self.deepest else {
                    omitted.insert(.styles)
                    continue
                }
                // Declarations and rules alike, of the selectors around.
                let inner = parents.map { [($0.joined(separator: ","), body)] } ?? Self.items(of: body)
                text += rules(inner, depth: depth + 1)
            } else if let selectors = selectors(head, within: parents), depth < Self.deepest {
                let parts = Self.items(of: body)
                var own = Self.declarations(parts.filter { $0.body == nil }.map(\.head).joined(separator: ";"))
                _ = own.mended(values, &omitted)
                if !own.isEmpty { text += "\(selectors.joined(separator: ",")){\(own.text)}" }
                text += rules(parts.filter { $0.body != nil }, within: selectors, depth: depth + 1)
            } else {
                omitted.insert(.styles)
            }
        }
        return text
    }

    /// Whether what stands in an at-rule holds; nil if it is none of conditions.
    private mutating func isTrue(_ head: String, _ body: String) -> Bool? {
        let words = head.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
        let condition = words.dropFirst().joined()
        switch words.first {
        case "@layer": return true
        case "@supports" where !condition.contains("not"): return true
        case "@media" where ["screen", "all", "onlyscreen"].contains(condition): return true
        // Of a picture in a page neither holds.
        case "@media" where condition == "print" || condition.hasPrefix("(prefers-color-scheme:dark"): return false
        case "@media", "@supports": omitted.insert(.styles)
        case "@font-face": if body.contains("data:") { omitted.insert(.text) }
        case "@keyframes", "@-webkit-keyframes": omitted.insert(.animation)
        default: return nil
        }
        return false
    }

    /// The selectors of a rule, which may be nested, without `:is()` and `:where()`; nil if they are too many.
    private func selectors(_ head: String, within parents: [String]?) -> [String]? {
        var found = Self.split(head, at: ",")
        guard found.count * (parents?.count ?? 1) <= Self.most else { return nil }
        if let parents {
            found = found.flatMap { one in
                parents.map { one.contains("&") ? one.replacing("&", with: $0) : "\($0) \(one)" }
            }
        }
        while let index = found.firstIndex(where: { $0.contains(":is(") || $0.contains(":where(") }) {
            let one = found[index]
            guard let start = one.range(of: ":is(") ?? one.range(of: ":where("),
                let end = Self.closing(one[start.upperBound...]), found.count <= Self.most
            else { return nil }
            let choices = Self.split(String(one[start.upperBound..<end]), at: ",")
            let behind = one[end...].dropFirst()
            found.replaceSubrange(index...index, with: choices.map { "\(one[..<start.lowerBound])\($0)\(behind)" })
        }
        return found.count <= Self.most ? found : nil
    }

    /// Where the bracket closes that is open before a text.
    static func closing(_ text: Substring) -> String.Index? {
        var depth = 1
        for index in text.indices {
            if text[index] == "(" { depth += 1 } else if text[index] == ")" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    private static func withoutComments(_ text: String) -> String {
        guard text.contains("/*") else { return text }
        let parts = text.components(separatedBy: "/*")
        return parts[0] + parts.dropFirst().map { $0.components(separatedBy: "*/").dropFirst().joined() }.joined()
    }

    /// The parts of a text between separators, or up to the end of a block, that are in no brackets or quotation marks, without space
    /// around.
    static func split(_ text: String, at separator: Character) -> [String] {
        parts(of: Array(text.utf8)[...], at: separator.asciiValue ?? 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func parts(of text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var (parts, start, depth): ([ArraySlice<UInt8>], Int, Int) = ([], text.startIndex, 0)
        var quote: UInt8?
        for (index, byte) in zip(text.indices, text) {
            switch byte {
            case quote: quote = nil
            case _ where quote != nil: break
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth = max(0, depth - 1)
            case UInt8(ascii: "}"):
                depth = max(0, depth - 1)
                if depth == 0 { (start, _) = (index + 1, parts.append(text[start...index])) }
            case separator where depth == 0: (start, _) = (index + 1, parts.append(text[start..<index]))
            default: break
            }
        }
        parts.append(text[start...])
        return parts.map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = text.drop(while: \.isASCIISpace)
        return rest.lastIndex { !$0.isASCIISpace }.map { rest[...$0] } ?? []
    }

    static func declarations(_ text: String) -> Declarations {
        Declarations(
            list: parts(of: Array(withoutComments(text).utf8)[...], at: UInt8(ascii: ";")).compactMap { part in
                guard let colon = part.firstIndex(of: UInt8(ascii: ":")) else { return nil }
                let (name, value) = (trimmed(part[..<colon]), trimmed(part[(colon + 1)...]))
                return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
            }
        )
    }

    /// Numbers, perhaps of pixels; nil if there is anything else.
    static func numbers(_ text: String) -> [Double]? {
        let words = text.split { $0 == "," || $0.isWhitespace }
        let numbers = words.map { Double($0.hasSuffix("px") ? $0.dropLast(2) : $0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }

    /// A transformation around an origin; nil if one of them is not known.
    static func moved(_ transform: String, around origin: String, _ box: String?, unit: String) -> String? {
        let place = ["left top", "top left"].contains(origin) ? [0, 0] : numbers(origin) ?? []
        guard (2...3).contains(place.count), ["view-box", nil].contains(box) else { return nil }
        let (x, y) = (place[0], place[1])
        guard (x, y) != (0, 0) else { return transform }
        return "translate(\(x)\(unit),\(y)\(unit)) \(transform) translate(\(-x)\(unit),\(-y)\(unit))"
    }

    /// What gets lost of properties, unless they have these values or what all may have.
    private static let lost: [String: (part: PictureFacts.Part, defaults: [String])] = [
        "vector-effect": (.paths, []), "textLength": (.text, []), "text-transform": (.text, []),
        "systemLanguage": (.text, []), "word-spacing": (.text, ["normal", "0", "0px"]),
        "dominant-baseline": (.text, ["alphabetic"]), "alignment-baseline": (.text, ["baseline", "alphabetic"]),
        "baseline-shift": (.text, ["baseline", "0", "0%", "0px"]),
    ]
    /// What gets lost of properties that are none as attributes.
    private static let lostOfStyles: [String: PictureFacts.Part] = [
        "rotate": .transforms, "translate": .transforms, "scale": .transforms, "offset-path": .transforms, "d": .paths,
    ]
    private static let colors = ["color(", "lch(", "lab(", "hwb("] + DrawingColor.functions
    private static let measures: Set = [
        "x", "y", "width", "height", "r", "rx", "ry", "cx", "cy", "font-size", "stroke-width",
    ]
    /// What librsvg computes nothing of, and the units that it does not know.
    private static let sums = ["var(", "calc(", "min(", "max(", "clamp("]
    private static let units = ["rem", "vw", "vh", "vmin", "vmax", "ch", "q"]

    /// The words without which nothing is to be changed and nothing gets lost, as far as it is by properties.
    static let signs =
        Array(lost.keys) + ["transform-", "clip-path", "mask", "offset-path", "path(", "pathLength", "white-space"]
        + ["rotate", "translate", "scale"].flatMap { ["\($0):", "\($0) :"] } + colors + sums
        + units.dropLast(2) + ["ch", "q", "Q"].flatMap { unit in ["\"", "'", ";"].map { unit + $0 } }

    /// What gets lost of a value; nil if nothing does.
    static func part(of name: String, _ value: String, isAttribute: Bool) -> PictureFacts.Part? {
        // Most values are of no interest.
        let isNamed = lost[name] != nil || lostOfStyles[name] != nil || measures.contains(name) || name == "clip-path"
        guard isNamed || value.utf8.contains(UInt8(ascii: "(")) else { return nil }
        let value = value.replacing("!important", with: "").trimmingCharacters(in: .whitespaces).lowercased()
        guard !["inherit", "initial", "unset", "revert", "none", "auto", ""].contains(value), name != "style" else {
            return nil
        }
        if let (part, defaults) = lost[name], !defaults.contains(value) { return part }
        if !isAttribute, let part = lostOfStyles[name] { return part }
        if name == "clip-path", !value.contains("url(") { return .clips }
        if name.hasPrefix("mask"), value.contains("gradient(") { return .clips }
        if colors.contains(where: value.hasPrefix) { return .colors }
        let isOtherUnit = measures.contains(name) && units.contains(where: value.hasSuffix)
        return isOtherUnit || sums.contains(where: value.contains) ? .styles : nil
    }

    /// The declarations of a rule or of an attribute `style`, in their order.
    struct Declarations {
        fileprivate(set) var list: [(name: String, value: String)]

        var isEmpty: Bool { list.isEmpty }
        var text: String { list.map { "\($0.name):\($0.value)" }.joined(separator: ";") }

        subscript(name: String) -> String? { list.last { $0.name == name }?.value }

        /// Computes what can be, and names what gets lost; returns the text if it has changed.
        mutating func mended(_ values: DrawingValues, _ omitted: inout Set<PictureFacts.Part>) -> String? {
            let before = text
            let (origin, box) = (self["transform-origin"], self["transform-box"])
            for (index, (name, value)) in list.enumerated() {
                var value = values.computed(value, of: name) ?? value
                if name == "transform", value != "none", origin ?? box != nil {
                    let moved = StyleSheet.moved(value, around: origin ?? "0 0", box, unit: "px")
                    if let moved { value = moved } else { omitted.insert(.transforms) }
                }
                list[index].value = value
                if let part = StyleSheet.part(of: name, value, isAttribute: false) { omitted.insert(part) }
            }
            return text == before ? nil : text
        }
    }
}
