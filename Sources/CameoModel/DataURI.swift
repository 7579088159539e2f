package import Foundation

/// A picture embedded in a URI (RFC 2397): `data:image/png;base64,…`.
package struct DataURI: Hashable, Sendable {
    /// The declared media type in lower case, without parameters; nil if none is declared.
    package let mediaType: String?
    package let bytes: Data

    /// Whether a URI has the scheme `data:`, in any case.
    package static func isDataURI(_ uri: String) -> Bool {
        String(decoding: uri.utf8.prefix(5), as: UTF8.self).lowercased() == "data:"
    }

    /// Accepts base64 with or without padding, in the standard or the URL-safe alphabet, and percent-encoding.
    ///
    /// Works on bytes, because a Swift `Character` merges a comma with a combining accent that follows it.
    package init(parsing uri: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        let text = uri.utf8
        guard Self.isDataURI(uri), let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            throw refuse("a data: URI needs a comma before its data")
        }
        let header = text[..<comma].dropFirst(5)
            .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: ["\u{20}"]).lowercased() }
        let type = header.first ?? ""
        mediaType = type.isEmpty ? nil : type
        guard let payload = PercentEncoding.decoded(text[text.index(after: comma)...]).map({ Data($0) }) else {
            throw refuse("a data: URI has a % that is not followed by two hexadecimal digits")
        }
        if header.dropFirst().contains("base64") {
            guard let decoded = Base64Text.decoded(payload) else {
                throw refuse("the data: URI's base64 is malformed")
            }
            bytes = decoded
        } else {
            bytes = payload
        }
    }
}
