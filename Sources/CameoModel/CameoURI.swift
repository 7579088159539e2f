internal import Foundation

/// A name for bytes in the store.
package enum CameoURI: Hashable, Sendable, CustomStringConvertible {
    /// `cameo://thumb/<id>`: the newest blob of one thumbnail.
    case thumbnail(ThumbnailID)
    /// `cameo://blob/sha256-<64 hex>`: immutable bytes.
    case blob(BlobDigest)
    /// `cameo://source/<percent-encoded source URI>`: the cached original.
    case source(String)

    package init?(_ text: String) {
        guard text.prefix(8).lowercased() == "cameo://" else { return nil }
        let parts = text.dropFirst(8).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "thumb":
            guard let id = ThumbnailID(parts[1]) else { return nil }
            self = .thumbnail(id)
        case "blob":
            guard parts[1].hasPrefix("sha256-"), let digest = BlobDigest(hex: parts[1].dropFirst(7)) else { return nil }
            self = .blob(digest)
        case "source":
            guard let source = parts[1].removingPercentEncoding, !source.isEmpty else { return nil }
            self = .source(source)
        default:
            return nil
        }
    }

    package var text: String {
        switch self {
        case .thumbnail(let id): "cameo://thumb/\(id)"
        case .blob(let digest): "cameo://blob/\(digest)"
        case .source(let source): "cameo://source/\(Self.percentEncoded(source))"
        }
    }

    package var description: String { text }

    /// Encodes everything but RFC 3986's unreserved characters.
    private static func percentEncoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        )
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}
