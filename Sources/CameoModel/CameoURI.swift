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
