internal import CameoModel
internal import Foundation

/// A style sheet of a drawing in the words that librsvg knows: without conditions that hold, nesting and `:is()`, and with
/// variables and sums computed. What has no such words is named.
struct StyleSheet {
    private(set) var text = ""
    private(set) var omitted: Set<PictureFacts.Part> = []
    private let source: String
    private let variables: Variables

    var isChanged: Bool { text != source }

    init(_ source: String, _ variables: Variables) {
        (self.source, self.variables) = (source, variables)
        // A sheet without any of this stays as it is, byte by byte.
        let signs = ["@", "var(", "calc(", ":is(", ":where(", "&", "transform-origin"]
        let items = Self.items(of: source)
        let isNested = items.contains { $0.body?.contains("{") == true }
        let plain = rules(items)
        text = isNested || signs.contains(where: source.contains) ? plain : source
    }

    /// A rule or an at-rule with its body, or a declaration or a statement, which has none.
    typealias Item = (head: String, body: String?)

    /// The items of a sheet or of a body, without comments.
    static func items(of text: String) -> [Item] {
        var (items, head, body): ([Item], String, String?) = ([], "", nil)
        var (depth, brackets, quote): (Int, Int, Character?) = (0, 0, nil)
        var rest = text[...]
        func add(_ character: Character) { if body != nil { body?.append(character) } else { head.append(character) } }
        func close() {
            let plain = head.trimmingCharacters(in: .whitespacesAndNewlines)
            if !plain.isEmpty || body != nil { items.append((plain, body)) }
            (head, body) = ("", nil)
        }
        while let character = rest.first {
            if quote == nil, rest.hasPrefix("/*") {
                rest = rest.range(of: "*/").map { rest[$0.upperBound...] } ?? ""
                continue
            }
            rest = rest.dropFirst()
            if let open = quote {
                if character == open { quote = nil }
                add(character)
                continue
            }
            switch character {
            case "\"", "'": (quote, _) = (character, add(character))
            case "(", "[": (brackets, _) = (brackets + 1, add(character))
            case ")", "]": (brackets, _) = (brackets - 1, add(character))
            case "{" where brackets <= 0:
                depth += 1
                if depth == 1 { body = "" } else { add(character) }
            case "}" where brackets <= 0:
                depth -= 1
                if depth <= 0 { (depth, _) = (0, close()) } else { add(character) }
            case ";" where brackets <= 0 && depth == 0: close()
            default: add(character)
            }
        }
        close()
        return items
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
                _ = own.mended(variables, &omitted)
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

    /// The parts of a text between characters that are in no brackets, without space around.
    static func split(_ text: String, at separator: Character) -> [String] {
        parts(of: Array(text.utf8)[...], at: separator.asciiValue ?? 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func parts(of text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var (parts, start, depth): ([ArraySlice<UInt8>], Int, Int) = ([], text.startIndex, 0)
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
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
            list: parts(of: Array(text.utf8)[...], at: UInt8(ascii: ";")).compactMap { part in
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

    static func point(_ origin: String) -> (x: Double, y: Double)? {
        if ["left top", "top left"].contains(origin) { return (0, 0) }
        guard let numbers = numbers(origin), (2...3).contains(numbers.count) else { return nil }
        return (numbers[0], numbers[1])
    }

    /// What gets lost of properties, unless they have these values or what all may have.
    private static let lost: [String: (part: PictureFacts.Part, defaults: [String])] = [
        "vector-effect": (.paths, []), "textLength": (.text, []), "text-transform": (.text, []),
        "systemLanguage": (.text, []),
        "dominant-baseline": (.text, ["alphabetic"]), "alignment-baseline": (.text, ["baseline", "alphabetic"]),
        "baseline-shift": (.text, ["baseline", "0", "0%", "0px"]), "word-spacing": (.text, ["normal", "0", "0px"]),
    ]
    /// What gets lost of properties that are none as attributes.
    private static let lostOfStyles: [String: PictureFacts.Part] = [
        "rotate": .transforms, "translate": .transforms, "scale": .transforms, "offset-path": .transforms, "d": .paths,
    ]
    private static let colors = ["color(", "color-mix(", "oklch(", "oklab(", "lch(", "lab(", "hwb(", "light-dark("]

    private static let measures: Set = [
        "x", "y", "width", "height", "r", "rx", "ry", "cx", "cy", "font-size", "stroke-width", "clip-path", "mask",
        "mask-image",
    ]

    /// What gets lost of a value; nil if nothing does.
    static func part(of name: String, _ value: String, isAttribute: Bool) -> PictureFacts.Part? {
        // Most values are of no interest.
        let isFunction = value.utf8.contains(UInt8(ascii: "(")) && !["url(", "rgb"].contains(where: value.hasPrefix)
        let isNumber = value.utf8.last.map { (0x30...0x39).contains($0) } ?? true
        let isKnown = lost[name] != nil || lostOfStyles[name] != nil || !isNumber && measures.contains(name)
        guard isFunction && name != "transform" && !name.hasSuffix("Transform") || isKnown else { return nil }
        let value = value.replacing("!important", with: "").trimmingCharacters(in: .whitespaces).lowercased()
        guard !["inherit", "initial", "unset", "revert", "none", "auto", ""].contains(value), name != "style" else {
            return nil
        }
        if let (part, defaults) = lost[name], !defaults.contains(value) { return part }
        if !isAttribute, let part = lostOfStyles[name] { return part }
        switch name {
        case "clip-path": return value.contains("url(") ? nil : .clips
        case "mask", "mask-image": return value.contains("gradient(") ? .clips : nil
        case _ where measures.contains(name):
            if ["rem", "vw", "vh", "vmin", "vmax", "ch", "q"].contains(where: value.hasSuffix) { return .styles }
        default: if colors.contains(where: value.hasPrefix) { return .colors }
        }
        return ["var(--", "calc(", "min(", "max(", "clamp("].contains(where: value.contains) ? .styles : nil
    }

    /// The declarations of a rule or of an attribute `style`, in their order.
    struct Declarations {
        fileprivate(set) var list: [(name: String, value: String)]

        var isEmpty: Bool { list.isEmpty }
        var text: String { list.map { "\($0.name):\($0.value)" }.joined(separator: ";") }

        subscript(name: String) -> String? { list.last { $0.name == name }?.value }

        /// Computes what can be, and names what gets lost; returns the text if it has changed.
        mutating func mended(_ variables: Variables, _ omitted: inout Set<PictureFacts.Part>) -> String? {
            var isChanged = false
            for index in list.indices {
                guard let plain = variables.substituted(list[index].value) else { continue }
                (list[index].value, isChanged) = (plain, true)
            }
            if let transform = self["transform"], transform != "none", let origin = self["transform-origin"] {
                let place = StyleSheet.point(origin)
                if let (x, y) = place, ["view-box", nil].contains(self["transform-box"]) {
                    for index in list.indices where list[index].name == "transform" && (x, y) != (0, 0) {
                        list[index].value = "translate(\(x)px,\(y)px) \(transform) translate(\(-x)px,\(-y)px)"
                        isChanged = true
                    }
                } else {
                    omitted.insert(.transforms)
                }
            }
            for (name, value) in list {
                if let part = StyleSheet.part(of: name, value, isAttribute: false) { omitted.insert(part) }
            }
            return isChanged ? text : nil
        }
    }

    /// The custom properties of a drawing, of which each has one value, everywhere.
    struct Variables {
        private var values: [String: String] = [:]
        /// Whether there is anything to compute.
        private let isNeeded: Bool

        init(in text: [UInt8]) {
            isNeeded = text.first(of: "var(--") != nil || text.first(of: "calc(") != nil
            guard isNeeded else { return }
            var several: Set<String> = []
            for part in String(decoding: text, as: UTF8.self).components(separatedBy: "--").dropFirst() {
                let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
                let behind = part.dropFirst(name.count).drop(while: \.isWhitespace)
                guard behind.first == ":" else { continue }
                let value = behind.dropFirst().prefix { !";}\"'<".contains($0) }.trimmingCharacters(
                    in: .whitespacesAndNewlines
                )
                if let known = values[String(name)], known != value { several.insert(String(name)) }
                if value.utf8.count < 256 { values[String(name)] = value }
            }
            for name in several { values[name] = nil }
        }

        /// A value without variables and sums; nil if it has none, or if one is not known.
        func substituted(_ value: String) -> String? {
            guard isNeeded else { return nil }
            var (text, left) = (value, 16)
            while let start = text.range(of: "var("), left > 0 {
                left -= 1
                guard let end = StyleSheet.closing(text[start.upperBound...]) else { return nil }
                let parts = text[start.upperBound..<end].split(separator: ",", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                guard let name = parts.first, let known = values[String(name.dropFirst(2))] ?? parts.dropFirst().first
                else { return nil }
                text.replaceSubrange(start.lowerBound...end, with: known)
            }
            while let start = text.range(of: "calc("), left > 0 {
                left -= 1
                guard let end = StyleSheet.closing(text[start.upperBound...]),
                    let sum = Sum(String(text[start.upperBound..<end]))?.text
                else { return nil }
                text.replaceSubrange(start.lowerBound...end, with: sum)
            }
            return text == value ? nil : text
        }
    }

    /// A sum of products of numbers, all of one unit or none (CSS Values 3, 8.1).
    private struct Sum {
        private var rest: Substring
        private(set) var text = ""

        init?(_ text: String) {
            rest = text[...]
            // Which brackets lie in each other is computed by recursion.
            guard text.utf8.count < 256, let (number, unit) = sum(), rest.allSatisfy(\.isWhitespace), number.isFinite
            else { return nil }
            self.text =
                "\(number.formatted(.number.grouping(.never).precision(.fractionLength(0...4)).locale(Locale(identifier: "en_US_POSIX"))))\(unit)"
        }

        private mutating func sign(_ signs: String) -> Character? {
            rest = rest.drop(while: \.isWhitespace)
            return rest.first.flatMap { signs.contains($0) ? rest.removeFirst() : nil }
        }

        private mutating func sum() -> (Double, String)? {
            guard var total = product() else { return nil }
            while let sign = sign("+-") {
                guard let next = product(), next.1 == total.1 else { return nil }
                total.0 += sign == "+" ? next.0 : -next.0
            }
            return total
        }

        private mutating func product() -> (Double, String)? {
            guard var total = factor() else { return nil }
            while let sign = sign("*/") {
                guard let next = factor(), total.1.isEmpty || next.1.isEmpty, sign == "*" || next.1.isEmpty else {
                    return nil
                }
                total = (sign == "*" ? total.0 * next.0 : total.0 / next.0, total.1 + next.1)
            }
            return total
        }

        private mutating func factor() -> (Double, String)? {
            if sign("(") != nil {
                guard let inner = sum(), sign(")") != nil else { return nil }
                return inner
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
