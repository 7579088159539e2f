/// The id of a thumbnail: 32 lower-case hexadecimal digits. It is a function of scope, source and rendition alone
/// (invariant I3), so it is known before the thumbnail is made. `proto-json/README.md` documents it for other
/// languages.
public struct ThumbnailID: Hashable, Sendable, CustomStringConvertible {
    /// 32 lower-case hexadecimal digits.
    public let text: String

    /// - Parameter text: 32 lower-case hexadecimal digits; anything else returns nil.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.utf8.allSatisfy(Hexadecimal.isLowercaseDigit) else { return nil }
        self.text = String(text)
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
            text = CameoURI.blob(SHA256.digest(of: try InlinePicture(parsing: source).bytes)).text
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
