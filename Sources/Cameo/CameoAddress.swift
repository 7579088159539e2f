public import Foundation

/// A parsed `cameo:` URL: a name, and how long to wait until something has that name.
struct CameoAddress: Hashable, Sendable {
    /// The allowed waits in seconds. A waiting request occupies one of its session's slots.
    static let waitRange = 0.0...30.0

    let uri: CameoURI
    let wait: Double

    init(_ url: URL) throws(CameoURLError) {
        let text = url.absoluteString
        let parts = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        uri = try Self.uri(parts.first ?? "", in: text)
        wait = parts.count == 2 ? try Self.wait(parts[1], in: text) : 0
    }

    /// The canonical spelling (RFC 3986, section 6.2.2).
    var text: String { wait > 0 ? "\(uri.text)?wait=\(wait)" : uri.text }

    private static func uri(_ name: Substring, in url: String) throws(CameoURLError) -> CameoURI {
        guard name.prefix(8).lowercased() == "cameo://" else {
            throw .unsupportedURL(url, reason: "it does not begin with cameo://")
        }
        let parts = name.dropFirst(8).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = parts.first?.lowercased(), parts.count == 2, !parts[1].isEmpty else {
            throw .unsupportedURL(url, reason: "it has no name after thumb/, blob/ or source/")
        }
        guard let bytes = PercentEncoding.decoded(parts[1].utf8), let decoded = String(validating: bytes, as: UTF8.self)
        else { throw .incorrectlyEncodedURL(url) }
        switch kind {
        case "source": return .source(decoded)
        case "thumb", "blob":
            guard let uri = CameoURI("cameo://\(kind)/\(decoded)") else {
                throw .unsupportedURL(url, reason: "what follows \(kind)/ is not a valid name")
            }
            return uri
        default: throw .unsupportedURL(url, reason: "there are thumb/, blob/ and source/ only")
        }
    }

    private static func wait(_ query: Substring, in url: String) throws(CameoURLError) -> Double {
        let pair = query.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, pair[0] == "wait", let seconds = Double(pair[1]), waitRange.contains(seconds) else {
            throw .unsupportedURL(url, reason: "its query may only be wait= and 0 to 30 seconds")
        }
        return seconds
    }
}

extension CameoURI {
    /// The URL for any framework that loads pictures through a session with Cameo's protocol.
    public var url: URL {
        guard let url = URL(string: text) else {
            preconditionFailure("\(text) has only characters that are allowed in a URL")
        }
        return url
    }

    /// A URL whose load waits for a thumbnail that is still being made, and completes as soon as it exists. The wait is
    /// limited to 0 to 30 seconds.
    public func url(waiting seconds: Double) -> URL {
        let allowed = min(max(seconds, CameoAddress.waitRange.lowerBound), CameoAddress.waitRange.upperBound)
        return url.appending(queryItems: [URLQueryItem(name: "wait", value: "\(allowed)")])
    }
}
