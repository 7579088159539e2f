internal import CameoSystem

/// A URI that names bytes in the store. The bytes need not exist.
public enum CameoURI: Hashable, Codable, Sendable, RawRepresentable, LosslessStringConvertible {
    /// `cameo://thumb/<id>`: the newest blob of one thumbnail.
    case thumbnail(ThumbnailID)
    /// `cameo://blob/sha256-<64 hex>`: immutable bytes.
    case blob(BlobDigest)
    /// `cameo://source/<percent-encoded source URI>`: the cached original.
    case source(String)

    /// Returns nil if the text is not a valid `cameo:` URI.
    public init?(_ text: String) {
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
            guard let bytes = PercentEncoding.decoded(parts[1].utf8), !bytes.isEmpty,
                let source = String(validating: bytes, as: UTF8.self)
            else { return nil }
            self = .source(source)
        default:
            return nil
        }
    }

    /// Returns nil if the text is not a valid `cameo:` URI.
    public init?(rawValue: String) { self.init(rawValue) }

    /// The URI in its canonical spelling.
    public var text: String {
        switch self {
        case .thumbnail(let id): "cameo://thumb/\(id)"
        case .blob(let digest): "cameo://blob/\(digest)"
        case .source(let source): "cameo://source/\(PercentEncoding.encoded(source))"
        }
    }

    /// The ``text``; also the JSON form.
    public var rawValue: String { text }

    /// The ``text``.
    public var description: String { text }
}

/// The id of a thumbnail: 32 lower-case hexadecimal digits. It is a function of scope, source and rendition alone
/// (invariant I3), so it is known before the thumbnail is made. `proto-json/README.md` documents it for other
/// languages.
public struct ThumbnailID: Hashable, Sendable, CustomStringConvertible {
    /// 32 lower-case hexadecimal digits.
    public let text: String

    /// - Parameter text: 32 lower-case hexadecimal digits; anything else returns nil.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard Hexadecimal.isValid(text, count: 32) else { return nil }
        self.text = text
    }

    /// Takes the first 128 bits of SHA-256 over the RFC 8785 form of
    /// `{"v":1,"scope":…,"source":…,"rendition":{…}}`; `scope` is omitted if there is none.
    package init(source: SourceIdentity, scope: RequestScope?, rendition: Rendition) {
        var members: [String: JSONValue] = [
            "v": .integer(1),
            "source": .string(source.text),
            "rendition": .object(rendition.definition),
        ]
        if let scope { members["scope"] = .string(scope.text) }
        text = SHA256.shortHex(of: JSONValue.object(members))
    }

    /// The digits.
    public var description: String { text }
}

/// The identity of a source in a thumbnail's id: its URI as requested or, for an inline picture, the blob URI of its
/// bytes, so that the same picture uploaded in another way has the same thumbnails.
package struct SourceIdentity: Hashable, Sendable {
    package let text: String

    package init(of source: String) throws(InvalidRequest) {
        if InlinePicture.isIn(source) {
            text = CameoURI.blob(BlobDigest(of: try InlinePicture(parsing: source).bytes)).text
        } else {
            text = source
        }
    }
}

/// A digest of the credentials in a request's headers, so that one tenant's private picture never answers another's
/// request. Any header may be a credential, so every header counts.
package struct RequestScope: Hashable, Sendable {
    package let text: String

    /// Covers names (in lower case) and values. Returns nil if there are no headers.
    package init?(headers: [String: String]) {
        guard !headers.isEmpty else { return nil }
        let pairs = headers.map { ($0.key.lowercased(), JSONValue.string($0.value)) }
        text = SHA256.shortHex(of: .object(Dictionary(pairs, uniquingKeysWith: { first, _ in first })))
    }
}

/// The key of a cached original.
package struct SourceKey: Hashable, Sendable {
    /// The URI exactly as requested, before any rewriting.
    package let uri: String
    /// The scope of the credentials used for the fetch; nil if there were none.
    package let scope: RequestScope?

    package init(uri: String, scope: RequestScope?) {
        self.uri = uri
        self.scope = scope
    }
}

/// The part of a URI before its first colon (RFC 3986, section 3.1).
///
/// Like all URI and path parsing here, this works on bytes: a Swift `Character` merges a colon, slash or "@" with a
/// combining accent that follows it, but the kernel and libcurl do not.
package enum URIScheme {
    /// The scheme in lower case; nil if the text does not begin with one.
    package static func of(_ text: String) -> String? {
        let scheme = text.utf8.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
        guard scheme.first?.isASCIILetter == true, text.utf8[scheme.endIndex...].first == UInt8(ascii: ":") else {
            return nil
        }
        return String(decoding: scheme, as: UTF8.self).lowercased()
    }
}

package enum SourceScheme: String, CaseIterable, Sendable {
    case file, http, https, data, cameo, initials

    /// Nil if the text has another scheme, or none.
    package init?(of source: String) {
        self.init(rawValue: URIScheme.of(source) ?? "")
    }

    package var isWeb: Bool { self == .http || self == .https }
}
