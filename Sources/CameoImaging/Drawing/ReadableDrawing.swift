internal import CameoModel
internal import Foundation

/// A drawing for librsvg, which passes over what it does not know (by its own list of features, 2.54 and 2.60, and what it does
/// with each). What can be said otherwise for certain is said otherwise; what else could change the picture is named.
///
/// DESIGN: tags are cut from the text, and only those that change are written anew; no tree is built. What is in doubt stays as
/// it is. Names of other namespaces, and values that are the default, say nothing.
struct ReadableDrawing {
    /// The text, if it had to be changed.
    var text: [UInt8]? { isChanged ? made : nil }
    private(set) var omitted: Set<PictureFacts.Part> = []

    private var made: [UInt8] = []
    private var isChanged = false
    private var open: [(name: String, keepsSpace: Bool)] = []
    private var variables: StyleSheet.Variables
    private let hasText: Bool

    /// Nothing is known of a text that is no XML, which librsvg refuses.
    init(_ text: [UInt8]) {
        variables = StyleSheet.Variables(in: text)
        hasText = text.first(of: "<text") != nil
        made.reserveCapacity(text.count)
        var rest = text[...]
        while let first = rest.first {
            guard first == XMLCutter.less else {
                let plain = rest.prefix { $0 != XMLCutter.less }
                rest = rest.dropFirst(plain.count)
                if open.last?.name == "style" { style(plain, XMLCutter.unescaped(plain)) } else { content(plain) }
                continue
            }
            guard let tag = XMLCutter.tag(at: rest) else {
                isChanged = false
                return
            }
            rest = rest.dropFirst(tag.count)
            switch tag.dropFirst().first {
            case UInt8(ascii: "!"), UInt8(ascii: "?"):
                let isData = open.last?.name == "style" && tag.starts(with: "<![CDATA[".utf8)
                if isData {
                    let data = tag.dropFirst(9).dropLast(3)
                    style(tag, String(decoding: data, as: UTF8.self))
                } else {
                    made += tag
                }
            case XMLCutter.slash:
                made += tag
                _ = open.popLast()
            default: rest = begin(tag, before: rest)
            }
        }
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
        let sheet = StyleSheet(text, variables)
        omitted.formUnion(sheet.omitted)
        isChanged = isChanged || sheet.isChanged
        made += sheet.isChanged ? Array("<![CDATA[\(sheet.text)]]>".utf8) : Array(source)
    }

    /// A start tag, and what of the text behind it belongs to its change; returns what is left of that.
    private mutating func begin(_ tag: ArraySlice<UInt8>, before rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isWhole = tag.dropLast().last == XMLCutter.slash
        let full = XMLCutter.name(of: tag)
        let name = full.hasPrefix("svg:") ? String(full.dropFirst(4)) : full
        let isRoot = open.isEmpty
        var keepsSpace = open.last?.keepsSpace ?? false
        defer { if !isWhole { open.append((name, keepsSpace)) } }
        guard !name.contains(":"), let (attributes, end) = XMLCutter.attributes(of: tag) else {
            made += tag
            return rest
        }
        var values: [String: String] = [:]
        for (name, value, _) in attributes where name != "d" && name != "points" {
            guard Self.read.contains(name) || value.contains(UInt8(ascii: "(")),
                !["data-", "aria-"].contains(where: name.hasPrefix), !name.utf8.contains(UInt8(ascii: ":"))
            else { continue }
            values[name] = XMLCutter.unescaped(value)
        }
        var changes: [String: String] = [:]
        for (name, value) in values where name != "style" {
            if let plain = variables.substituted(value) { (values[name], changes[name]) = (plain, plain) }
        }
        var style = StyleSheet.declarations(values["style"] ?? "")
        if let plain = style.mended(variables, &omitted) { changes["style"] = plain }
        func value(_ name: String) -> String? { style[name] ?? values[name] }
        for (name, value) in values {
            if let part = StyleSheet.part(of: name, value, isAttribute: true) { omitted.insert(part) }
        }
        if let space = style["white-space"] {
            keepsSpace = ["pre", "pre-wrap", "break-spaces", "pre-line"].contains(space)
        }
        if values["pathLength"] != nil, let dashes = value("stroke-dasharray"), dashes != "none" {
            omitted.insert(.paths)
        }
        if isRoot, let fill = style["background-color"] ?? style["background"],
            !["none", "transparent", "initial", "inherit"].contains(fill)
        {
            omitted.insert(.background)
        }
        // Where browsers begin, with 16 pixels.
        let addsSize = isRoot && hasText && name == "svg" && value("font-size") == nil && style["font"] == nil
        if let origin = values["transform-origin"], style["transform"] == nil,
            let transform = values["transform"], transform != "none"
        {
            let place = StyleSheet.point(origin)
            if let place, style["transform-box"] ?? values["transform-box"] == nil {
                let (x, y) = place
                if place != (0, 0) { changes["transform"] = "translate(\(x) \(y)) \(transform) translate(\(-x) \(-y))" }
            } else {
                omitted.insert(.transforms)
            }
        }
        switch name {
        case "foreignObject": omitted.insert(.foreignObject)
        case "script": omitted.insert(.script)
        case "set", "animate", "animateTransform", "animateMotion", "animateColor": omitted.insert(.animation)
        case "image", "use", "feImage":
            // What EmbeddedPictures could not replace, and what would be another file.
            let known = ["#", "data:image/png", "data:image/jp"]
            for (name, value, _) in attributes where name == "href" || name.hasSuffix(":href") {
                let start = value.drop(while: \.isASCIISpace)
                if !known.contains(where: { start.starts(with: $0.utf8) }) { omitted.insert(.pictures) }
            }
        case "textPath": omitted.insert(.text)
        case "feDropShadow":
            if isWhole, let shadow = shadow(full, values) {
                isChanged = true
                made += shadow
                return rest
            }
            omitted.insert(.filters)
        case "text", "tspan":
            if let rotate = values["rotate"], StyleSheet.numbers(rotate)?.allSatisfy({ $0 == 0 }) != true {
                omitted.insert(.text)
            }
            if let (letters, behind) = letters(full, values, rest) {
                let kept = attributes.filter { !Self.places.contains($0.name) && changes[$0.name] == nil }.flatMap(
                    \.text
                )
                let changed = changes.map { " \($0)=\"\(XMLCutter.escaped($1))\"" }.joined()
                isChanged = true
                made += "<\(full)".utf8 + kept + changed.utf8 + end + letters
                return behind
            }
        default: break
        }
        guard addsSize || !changes.isEmpty else {
            made += tag
            return rest
        }
        isChanged = true
        made += "<\(full)\(addsSize ? " font-size=\"16\"" : "")".utf8
        for (name, _, text) in attributes {
            if let value = changes[name] {
                made += " \(name)=\"\(XMLCutter.escaped(value))\"".utf8
            } else {
                made += text
            }
        }
        made += end
        return rest
    }

    /// The attributes whose values say something without brackets.
    private static let read: Set<String> = [
        "style", "x", "y", "dx", "dy", "rotate", "transform", "transform-origin", "transform-box", "textLength", "in",
        "stdDeviation", "flood-color", "flood-opacity", "result", "width", "height", "pathLength", "stroke-dasharray",
        "font-size", "systemLanguage", "dominant-baseline", "alignment-baseline", "baseline-shift", "vector-effect",
        "word-spacing", "text-transform", "r", "rx", "ry", "cx", "cy", "stroke-width",
    ]
    private static let places = ["x", "y", "dx", "dy"]

    /// The four primitives that a drop shadow is (Filter Effects 1, 9.11), if it is cast by the whole or by what has a name.
    private func shadow(_ name: String, _ values: [String: String]) -> [UInt8]? {
        guard let source = values["in"] ?? (isFirstPrimitive ? "SourceGraphic" : nil), values["style"] == nil else {
            return nil
        }
        let prefix = name.dropLast("feDropShadow".count)
        func attribute(_ name: String, _ value: String?) -> String {
            value.map { " \(name)=\"\(XMLCutter.escaped($0))\"" } ?? ""
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

    /// Whether nothing but space stands before, in its filter.
    private var isFirstPrimitive: Bool {
        let before = made.suffix(2_000).reversed().first { !$0.isASCIISpace }
        let tag = made.suffix(2_000).lastIndex(of: XMLCutter.less).map { made[$0...] } ?? []
        return before == UInt8(ascii: ">") && String(decoding: tag.prefix(12), as: UTF8.self).contains("filter")
            && tag.dropLast().last != XMLCutter.slash
    }

    /// Each letter of a text at its own place (SVG 1.1, 10.5), up to the end tag, and what is behind; nil if it has one place. With
    /// other elements inside, the places that get lost are named.
    private mutating func letters(
        _ name: String,
        _ values: [String: String],
        _ rest: ArraySlice<UInt8>
    ) -> ([UInt8], ArraySlice<UInt8>)? {
        let lists = Self.places.map { place in
            (values[place] ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        }
        let content = rest.prefix { $0 != XMLCutter.less }
        let words = String(decoding: content, as: UTF8.self)
        let trimmed = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard lists.contains(where: { $0.count > 1 }),
            !trimmed.isEmpty || rest.dropFirst(content.count + 1).first != XMLCutter.slash
        else { return nil }
        guard !trimmed.isEmpty, rest.dropFirst(content.count + 1).first == XMLCutter.slash else {
            omitted.insert(.text)
            return nil
        }
        var (letters, offset): ([String], Substring) = ([], trimmed[...])
        while let first = offset.first {
            let end = first == "&" ? offset.prefix(16).firstIndex(of: ";").map { offset.index(after: $0) } : nil
            letters.append(String(offset[..<(end ?? offset.index(after: offset.startIndex))]))
            offset = offset.dropFirst(letters[letters.count - 1].count)
        }
        let prefix = name.hasPrefix("svg:") ? "svg:" : ""
        let count = max(1, min(letters.count, lists.map(\.count).max() ?? 1))
        var text = ""
        for index in 0..<count {
            let places = zip(Self.places, lists).map { index < $1.count ? " \($0)=\"\($1[index])\"" : "" }.joined()
            let part = index == count - 1 ? letters[index...].joined() : letters[index]
            text += "<\(prefix)tspan\(places)>\(part == " " ? "&#xA0;" : part)</\(prefix)tspan>"
        }
        return (Array(text.utf8), rest.dropFirst(content.count))
    }
}
