package import CameoModel
internal import Foundation

/// A program's own name for a picture that it hands over: the picture's thumbnails have the same URIs whatever its bytes
/// are, and are made anew when others are handed over under the key.
package struct CacheKey: Hashable, Sendable {
    package static let maximumBytes = 2_048
    /// Schemes of sources that are something already, in this version or in one to come.
    private static let schemes: Set<String> = ["cameo", "data", "file", "ftp", "http", "https", "initials", "s3"]

    package let text: String

    /// 1 to 2048 bytes without control characters, and no URI that a source may have.
    package init(_ text: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "cacheKey", reason: reason) }
        guard (1...Self.maximumBytes).contains(text.utf8.count) else {
            throw refuse("must have 1 to \(Self.maximumBytes) bytes, not \(text.utf8.count)")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw refuse("has a control character")
        }
        if let scheme = URIScheme.of(text), Self.schemes.contains(scheme) {
            throw refuse("must not begin with \(scheme):, as sources do")
        }
        self.text = text
    }

    /// What a job has as its source.
    package var uri: String { CameoURI.source(text).text }
}
