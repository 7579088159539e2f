internal import CameoModel
internal import CommandSupport

/// One `--size`: a box, with its own fit, format or quality behind colons.
struct SizeArgument {
    /// Of a command line that names none.
    static let standard = "256x256"

    let text: String
    let width: Int?
    let height: Int?
    var fit: Rendition.Fit?
    var format: Rendition.Format?
    var quality: Int?

    /// Reads `256x256:cover:webp:q75`.
    init(_ text: String) throws(CommandFailure) {
        self.text = text
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let edges = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = edges.map { Int($0) }
        guard edges.count == 2, zip(edges, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            !edges.allSatisfy(\.isEmpty)
        else {
            throw CommandFailure("--size \(text): must be WIDTHxHEIGHT, WIDTHx or xHEIGHT in pixels", .usage)
        }
        (width, height) = (numbers[0], numbers[1])
        for part in parts.dropFirst() {
            if let value = Rendition.Fit(rawValue: part) {
                fit = value
            } else if let value = Rendition.Format(rawValue: part) {
                format = value
            } else if part.first == "q", let value = Int(part.dropFirst()) {
                quality = value
            } else {
                throw CommandFailure("--size \(text): \"\(part)\" is no fit, format or quality (q1 to q100)", .usage)
            }
        }
    }

    /// What is wrong with the rendition of this size, by the name of the option that asked for it.
    func failure(_ error: InvalidRequest) -> CommandFailure {
        let path = error.path.split(separator: ".").map(String.init)
        let isOwn =
            switch path.first {
            case "width", "height", nil: true
            case "quality": quality != nil
            default: false
            }
        if isOwn { return CommandFailure("--size \(text): \((path + [error.reason]).joined(separator: " "))", .usage) }
        if path.first == "overlay" {
            return CommandFailure("\(Self.option(path.filter { $0 != "source" })): \(error.reason)", .usage)
        }
        let detail = (path.dropFirst() + [error.reason]).joined(separator: " ")
        return CommandFailure("\(Self.option(Array(path.prefix(1)))): \(detail)", .usage)
    }

    /// `chromaSubsampling` is `--chroma-subsampling`, and `overlay.margin` is `--overlay-margin`.
    private static func option(_ path: [String]) -> String {
        let words = path.joined(separator: "-").map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }
        return "--" + words.joined()
    }
}
