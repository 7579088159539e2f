internal import CameoModel
internal import Foundation

/// A drawing for librsvg, which passes over what it does not know (by its own list of features, 2.54 and 2.60, and what it does
/// with each). What can be said otherwise for certain is said otherwise; what else could change the picture is named.
///
/// DESIGN: tags are cut from the text, and only those that change are written anew; no tree is built. What is in doubt stays as
/// it is. Names of other namespaces, and values that are the default, say nothing.
struct ReadableDrawing {
    /// The text, if it had to be changed.
    private(set) var text: [UInt8]?
    private(set) var omitted: Set<PictureFacts.Part> = []

    private var made: [UInt8] = []
    private var isChanged = false
    private var open: [(name: String, keepsSpace: Bool)] = []
    /// The element that began before.
    private var previous = ""
    private var parts: XMLParts
    private let values: DrawingValues
    private let hasText: Bool

    /// Without one of these in it a tag needs no look.
    private static let signs = WordSearch(
        StyleSheet.signs + [
            "<svg", "<text", "<tspan", "<style", "<image", "<use", "<fe", "<foreign", "<script", "<set", "<animate",
            "&#", "background",
        ]
    )

    /// Nothing is known of a text that is no XML, which librsvg refuses. `picture` gives what is drawn in place of a picture in a
    /// `data:` URI.
    init(_ text: [UInt8], picture: (String) -> String? = { _ in nil }) {
        let found = Self.signs.words(in: text[...])
        (values, parts, hasText) = (DrawingValues(in: text, found), XMLParts(text), found.contains("<text"))
        // The root alone has one that says nothing.
        guard found.count > 1 else { return }
        let signs = WordSearch(found)
        made.reserveCapacity(text.count)
        while let (kind, part) = parts.next() {
            switch kind {
            case .text where open.last?.name == "style": style(part, XMLParts.unescaped(part))
            case .text: content(part)
            case .other where open.last?.name == "style" && part.starts(with: "<![CDATA[".utf8):
                style(part, String(decoding: part.dropFirst(9).dropLast(3), as: UTF8.self))
            case .other: made += part
            case .end:
                made += part
                _ = open.popLast()
            case .start(let isWhole):
                let full = XMLParts.name(of: part)
                let name = full.hasPrefix("svg:") ? String(full.dropFirst(4)) : full
                var keepsSpace = open.last?.keepsSpace ?? false
                let isPlain = name == full && !open.isEmpty && signs.words(in: part, most: 1).isEmpty
                if isPlain || name.contains(":") {
                    made += part
                } else {
                    begin(part, name, full, isWhole, &keepsSpace, picture)
                }
                previous = name
                if !isWhole { open.append((name, keepsSpace)) }
            }
        }
        if isChanged, parts.isAtEnd { self.text = made }
    }

    /// Text between tags.
    private mutating func content(_ plain: ArraySlice<UInt8>) {
        made += plain
        guard open.last?.keepsSpace == true, open.contains(where: { $0.name == "text" }) else { return }
        let spaces = plain.map { $0 == 0x20 || $0 == 0x0A || $0 == 0x09 }
        if zip(spaces, spaces.dropFirst()).contains(where: { $0 && $1 }) || spaces.first == true {
            omitted.insert(.text)
        }
    }

    /// A style sheet, as it stands in the file and as text.
    private mutating func style(_ source: ArraySlice<UInt8>, _ text: String) {
        let sheet = StyleSheet(text, values)
        omitted.formUnion(sheet.omitted)
        isChanged = isChanged || sheet.text != nil
        made += sheet.text.map { Array("<![CDATA[\($0)]]>".utf8) } ?? Array(source)
    }

    /// A start tag, and what of the text behind it belongs to its change.
    private mutating func begin(
        _ tag: ArraySlice<UInt8>,
        _ name: String,
        _ full: String,
        _ isWhole: Bool,
        _ keepsSpace: inout Bool,
        _ picture: (String) -> String?
    ) {
        guard let (attributes, end) = XMLParts.attributes(of: tag) else {
            made += tag
            return
        }
        var (values, changes): ([String: String], [String: String]) = ([:], [:])
        for (name, value, _) in attributes where !name.utf8.contains(UInt8(ascii: ":")) {
            if ["d", "href"].contains(name) || name.hasPrefix("data-") || name.hasPrefix("aria-") { continue }
            let value = XMLParts.unescaped(value)
            if name != "style" { changes[name] = self.values.computed(value, of: name) }
            values[name] = changes[name] ?? value
            if let part = StyleSheet.part(of: name, values[name] ?? "", isAttribute: true) { omitted.insert(part) }
        }
        let origins = values["transform-origin"].map { "transform-origin:\($0);" } ?? ""
        var style = StyleSheet.declarations(origins + (values["style"] ?? ""))
        changes["style"] = style.mended(self.values, &omitted)
        func value(_ name: String) -> String? { style[name] ?? values[name] }
        if let space = style["white-space"] {
            keepsSpace = ["pre", "pre-wrap", "break-spaces", "pre-line"].contains(space)
        }
        if values["pathLength"] != nil, let dashes = value("stroke-dasharray"), dashes != "none" {
            omitted.insert(.paths)
        }
        let fill = style["background-color"] ?? style["background"] ?? "none"
        if open.isEmpty, !["none", "transparent", "initial", "inherit"].contains(fill) { omitted.insert(.background) }
        let (origin, box) = (value("transform-origin"), value("transform-box"))
        if style["transform"] == nil, let transform = values["transform"], transform != "none", origin ?? box != nil {
            let moved = StyleSheet.moved(transform, around: origin ?? "0 0", box, unit: "")
            if moved == nil { omitted.insert(.transforms) } else if moved != transform { changes["transform"] = moved }
        }
        var inside: [UInt8] = []
        switch name {
        // Illustrator's own data is for nobody else.
        case "foreignObject" where values["requiredExtensions"] ?? "" != "": break
        case "foreignObject": omitted.insert(.foreignObject)
        case "script": omitted.insert(.script)
        case "set", "animate", "animateTransform", "animateMotion", "animateColor": omitted.insert(.animation)
        case "image", "use", "feImage":
            // Others stay out, and so do other files.
            let known = ["#", "data:image/png", "data:image/jp"]
            for (name, value, _) in attributes where name == "href" || name.hasSuffix(":href") {
                let start = value.drop(while: \.isASCIISpace)
                let isData = start.starts(with: "data:".utf8)
                changes[name] = isData ? picture(XMLParts.unescaped(start)) : nil
                let isKnown = changes[name] != nil || known.contains { start.starts(with: $0.utf8) }
                if !isKnown { omitted.insert(.pictures) }
            }
        case "textPath": omitted.insert(.text)
        case "feDropShadow":
            if isWhole, let shadow = shadow(full, values) {
                isChanged = true
                made += shadow
                return
            }
            omitted.insert(.filters)
        case "text", "tspan":
            let isTurned = values["rotate"].map { StyleSheet.numbers($0)?.allSatisfy { $0 == 0 } != true } ?? false
            if isTurned { omitted.insert(.text) }
            inside = letters(full, values)
        default: break
        }
        // Where browsers begin, with 16 pixels.
        let isSmall = open.isEmpty && hasText && name == "svg" && value("font-size") == nil && style["font"] == nil
        if isSmall || !changes.isEmpty || !inside.isEmpty {
            isChanged = true
            made += "<\(full)\(isSmall ? " font-size=\"16\"" : "")".utf8
            for (name, _, text) in attributes where inside.isEmpty || !Self.places.contains(name) {
                made += changes[name].map { Array(" \(name)=\"\($0.escapedForMarkup)\"".utf8)[...] } ?? text
            }
            made += end + inside
        } else {
            made += tag
        }
    }

    private static let places = ["x", "y", "dx", "dy"]

    /// The four primitives that a drop shadow is (Filter Effects 1, 9.11), if it is cast by the whole or by what has a name.
    private func shadow(_ name: String, _ values: [String: String]) -> [UInt8]? {
        guard let source = values["in"] ?? (previous == "filter" ? "SourceGraphic" : nil), values["style"] == nil else {
            return nil
        }
        let prefix = name.dropLast("feDropShadow".count)
        func attribute(_ name: String, _ value: String?) -> String {
            value.map { " \(name)=\"\($0.escapedForMarkup)\"" } ?? ""
        }
        let area =
            Self.places.prefix(2).map { attribute($0, values[$0]) }.joined()
            + ["width", "height", "result"].map { attribute($0, values[$0]) }.joined()
        let input = attribute("in", source)
        let flood = ["flood-color", "flood-opacity"].map { attribute($0, values[$0]) }.joined()
        let offset = ["dx", "dy"].map { attribute($0, values[$0] ?? "2") }.joined()
        return Array(
            """
            <\(prefix)feGaussianBlur\(input)\(attribute("stdDeviation", values["stdDeviation"] ?? "2"))/>\
            <\(prefix)feOffset\(offset) result="cameo-shadow"/><\(prefix)feFlood\(flood)/>\
            <\(prefix)feComposite in2="cameo-shadow" operator="in"/>\
            <\(prefix)feMerge\(area)><\(prefix)feMergeNode/><\(prefix)feMergeNode\(input)/></\(prefix)feMerge>
            """.utf8
        )
    }

    /// The text behind a start tag, each letter at its own place (SVG 1.1, 10.5); empty if it has one place. With other elements
    /// inside, the places that get lost are named.
    private mutating func letters(_ name: String, _ values: [String: String]) -> [UInt8] {
        let lists = Self.places.map { (values[$0] ?? "").split { $0 == "," || $0.isWhitespace } }
        guard lists.contains(where: { $0.count > 1 }) else { return [] }
        var behind = parts
        let content = behind.next().map { $0.0 == .text ? String(decoding: $0.1, as: UTF8.self) : "" } ?? ""
        let trimmed = content.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !trimmed.isEmpty, behind.isBeforeEnd else {
            if !parts.isBeforeEnd { omitted.insert(.text) }
            return []
        }
        parts = behind
        var (letters, offset): ([Substring], Substring) = ([], trimmed[...])
        while let first = offset.first {
            let end = first == "&" ? offset.prefix(16).firstIndex(of: ";") : nil
            letters.append(offset[...(end ?? offset.startIndex)])
            offset = offset[letters[letters.count - 1].endIndex...]
        }
        let span = (name.hasPrefix("svg:") ? "svg:" : "") + "tspan"
        let count = min(letters.count, lists.map(\.count).max() ?? 1)
        let text = (0..<count).map { index in
            let places = zip(Self.places, lists).map { index < $1.count ? " \($0)=\"\($1[index])\"" : "" }.joined()
            let part = index == count - 1 ? letters[index...].joined() : String(letters[index])
            return "<\(span)\(places)>\(part == " " ? "&#xA0;" : part)</\(span)>"
        }
        return Array(text.joined().utf8)
    }
}

/// Words that are looked for in one pass, each where no letter is before it.
struct WordSearch {
    /// By their first bytes.
    private var words = [[String]](repeating: [], count: 256)

    init(_ words: some Sequence<String>) {
        for word in words { self.words[Int(word.utf8.first ?? 0)].append(word) }
    }

    /// Those that a text has, up to a number.
    func words(in text: ArraySlice<UInt8>, most: Int = .max) -> Set<String> {
        var (found, isBehindLetter): (Set<String>, Bool) = ([], false)
        for (index, byte) in zip(text.indices, text) {
            if !isBehindLetter, !words[Int(byte)].isEmpty {
                for word in words[Int(byte)] where text[index...].starts(with: word.utf8) { found.insert(word) }
                if found.count >= most { break }
            }
            isBehindLetter = byte.isASCIILetter
        }
        return found
    }
}
