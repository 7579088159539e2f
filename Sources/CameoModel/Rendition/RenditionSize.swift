/// A rendition as people write it in one word: a box, optionally with a fit, a format and a quality after colons, as in
/// `256x256:cover:webp:q75`.
package struct RenditionSize: Hashable, Sendable {
    package let width: Int?
    package let height: Int?
    package private(set) var fit: Rendition.Fit?
    package private(set) var format: Rendition.Format?
    package private(set) var quality: Int?

    /// - Throws: ``InvalidRequest`` for text that is not of this form. Ranges are checked by ``Rendition/validate(at:)``.
    package init(parsing text: String) throws(InvalidRequest) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let edges = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = edges.map { Int($0) }
        guard edges.count == 2, zip(edges, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            !edges.allSatisfy(\.isEmpty)
        else { throw InvalidRequest(path: "", reason: "must be WIDTHxHEIGHT, WIDTHx or xHEIGHT in pixels") }
        (width, height) = (numbers[0], numbers[1])
        for part in parts.dropFirst() {
            if let value = Rendition.Fit(rawValue: part) {
                fit = value
            } else if let value = Rendition.Format(rawValue: part == "jpg" ? "jpeg" : part) {
                format = value
            } else if part.first == "q", let value = Int(part.dropFirst()) {
                quality = value
            } else {
                throw InvalidRequest(path: "", reason: "\"\(part)\" is not a fit, format or quality (q1 to q100)")
            }
        }
    }
}
