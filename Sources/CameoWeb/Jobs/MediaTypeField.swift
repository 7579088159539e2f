internal import Foundation

/// The value of `Content-Type` or `Content-Disposition`: its first word in lower case, and its parameters (RFC 9110,
/// sections 5.6.6 and 8.3.1).
struct MediaTypeField {
    let essence: String
    private let parameters: [String: String]

    init(_ text: String) {
        let parts = Self.parts(of: text)
        essence = parts[0].lowercased()
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2, parameters[pair[0].lowercased()] == nil { parameters[pair[0].lowercased()] = pair[1] }
        }
        self.parameters = parameters
    }

    /// Splits at semicolons, except within quotation marks, which are taken off.
    private static func parts(of text: String) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            switch character {
            case _ where isEscaped:
                isEscaped = false
                parts[parts.count - 1].append(character)
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case ";" where !isQuoted: parts.append("")
            default: parts[parts.count - 1].append(character)
            }
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The value of the parameter with this lower-case name.
    subscript(name: String) -> String? { parameters[name] }
}
