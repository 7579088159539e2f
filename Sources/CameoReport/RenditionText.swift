internal import CameoModel

/// The options of a rendition, for people to read.
enum RenditionText {
    private static let valueLimit = 60

    /// `width 64, height 64, fit cover, blur 2`: every field that differs from its default, beginning with the box. Values are
    /// written as JSON, strings without quotes. Long values, such as a `data:` overlay, are truncated.
    static func options(of rendition: Rendition) -> String {
        guard case .object(var members) = rendition.json else { return "" }
        members["name"] = nil
        let box = ["width", "height", "fit"]
        let names = box.filter { members[$0] != nil } + members.keys.filter { !box.contains($0) }.sorted()
        return names.compactMap { name in members[name].map { "\(name) \(text(of: $0))" } }.joined(separator: ", ")
    }

    private static func text(of value: JSONValue) -> String {
        let text = if case .string(let text) = value { text } else { value.canonicalText }
        return text.count <= valueLimit ? text : text.prefix(valueLimit - 1) + "…"
    }
}
