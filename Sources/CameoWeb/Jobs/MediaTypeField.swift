internal import Foundation

/// The value of `Content-Type`: the type in lower case, and its parameters (RFC 9110, section 8.3.1).
struct MediaTypeField {
    let essence: String
    private let parameters: [String: String]

    init(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        essence = parts[0].lowercased()
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { continue }
            let isQuoted = pair[1].count >= 2 && pair[1].hasPrefix("\"") && pair[1].hasSuffix("\"")
            parameters[pair[0].lowercased()] = isQuoted ? String(pair[1].dropFirst().dropLast()) : pair[1]
        }
        self.parameters = parameters
    }

    /// The value of the parameter with this lower-case name.
    subscript(name: String) -> String? { parameters[name] }
}
