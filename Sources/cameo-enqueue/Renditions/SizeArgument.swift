internal import ArgumentParser
internal import CameoModel

/// One `--size`: a box, optionally with its own fit, format or quality after colons.
struct SizeArgument {
    /// The size if the command line gives none.
    static let standard = "256x256"

    let text: String
    let width: Int?
    let height: Int?
    var fit: Rendition.Fit?
    var format: Rendition.Format?
    var quality: Int?

    /// Parses `256x256:cover:webp:q75`.
    init(_ text: String) throws(ValidationError) {
        self.text = text
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let edges = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = edges.map { Int($0) }
        guard edges.count == 2, zip(edges, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            !edges.allSatisfy(\.isEmpty)
        else {
            throw ValidationError("--size \(text): must be WIDTHxHEIGHT, WIDTHx or xHEIGHT in pixels")
        }
        (width, height) = (numbers[0], numbers[1])
        for part in parts.dropFirst() {
            if let value = Rendition.Fit(rawValue: part) {
                fit = value
            } else if let value = Rendition.Format(argument: part) {
                format = value
            } else if part.first == "q", let value = Int(part.dropFirst()) {
                quality = value
            } else {
                throw ValidationError("--size \(text): \"\(part)\" is not a fit, format or quality (q1 to q100)")
            }
        }
    }

    /// A mistake in the rendition of this size, under the name of the option that caused it.
    func mistake(_ error: InvalidRequest) -> ValidationError {
        let path = error.path.split(separator: ".").map(String.init)
        let isOwn =
            switch path.first {
            case "width", "height", nil: true
            case "quality": quality != nil
            default: false
            }
        if isOwn { return ValidationError("--size \(text): \((path + [error.reason]).joined(separator: " "))") }
        return TypedOption.mistake(error)
    }
}
