internal import CameoModel

/// An `http:` or `https:` URL, taken apart and percent-encoded as browsers do it (https://url.spec.whatwg.org), so that a
/// server gets the bytes that it gets from them.
///
/// The host and the port are left as they are written, for the parser whose connection is made.
package struct WebURL: Sendable {
    /// The text has another scheme, or none.
    package struct SchemeError: Error {
        package let scheme: String?
    }

    // The standard's percent-encode sets, without the C0 controls and what is not ASCII: those are always encoded.
    private static let querySet = " \"#<>'"
    private static let pathSet = " \"#<>?^`{}"
    private static let userInformationSet = pathSet + "/:;=@[\\]|"

    /// `http` or `https`.
    package let scheme: String
    /// The user name, and after a colon the password; nil without an `@`.
    package private(set) var userInformation: String?
    package let hostAndPort: String
    /// Begins with a slash, and has no segments of dots.
    package let path: String
    /// What follows the question mark, which may be nothing.
    package let query: String?

    package var target: String { path + (query.map { "?" + $0 } ?? "") }

    /// The URL without user information and fragment.
    package var text: String { "\(scheme)://\(hostAndPort)\(target)" }

    /// Parses a URL, or a reference that stands in the base.
    package init(_ text: String, relativeTo base: WebURL? = nil) throws(SchemeError) {
        var rest = text.utf8.drop { $0 <= 0x20 }.filter { ![0x09, 0x0A, 0x0D].contains($0) }[...]
        while let last = rest.last, last <= 0x20 { rest.removeLast() }
        rest = rest.prefix { $0 != UInt8(ascii: "#") }
        let named = URIScheme.of(String(decoding: rest, as: UTF8.self))
        guard let scheme = named ?? base?.scheme, ["http", "https"].contains(scheme) else {
            throw SchemeError(scheme: named)
        }
        self.scheme = scheme
        if named != nil { rest = rest.dropFirst(scheme.utf8.count + 1) }
        let slashes = rest.prefix(while: Self.isSlash).count
        let above = base.flatMap { $0.scheme == scheme && slashes < 2 ? $0 : nil }
        if let above {
            hostAndPort = above.hostAndPort
        } else {
            rest = rest.dropFirst(slashes)
            let authority = rest.prefix { !Self.isSlash($0) && $0 != UInt8(ascii: "?") }
            rest = rest.dropFirst(authority.count)
            let at = authority.lastIndex(of: UInt8(ascii: "@"))
            userInformation = at.map { Self.userInformation(authority[..<$0]) }
            hostAndPort = String(decoding: at.map { authority[($0 + 1)...] } ?? authority, as: UTF8.self)
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        if let above, path.isEmpty {
            self.path = above.path
            query = rest.isEmpty ? above.query : Self.encoded(rest.dropFirst(), Self.querySet)
        } else {
            let folders = (slashes == 0 ? above : nil)?.path.split(separator: "/", omittingEmptySubsequences: false)
            let segments = folders?.dropFirst().dropLast().map(String.init) ?? []
            self.path = Self.path(path.dropFirst(path.first.map(Self.isSlash) == true ? 1 : 0), below: segments)
            query = path.count < rest.count ? Self.encoded(rest.dropFirst(path.count + 1), Self.querySet) : nil
        }
    }

    private static func path(_ text: ArraySlice<UInt8>, below folders: [String]) -> String {
        var segments = folders
        let parts = text.split(omittingEmptySubsequences: false, whereSeparator: isSlash)
        for (index, part) in parts.enumerated() {
            let segment = encoded(part, pathSet)
            let dots = segment.asciiLowercased.replacing("%2e", with: ".")
            guard dots == "." || dots == ".." else {
                segments.append(segment)
                continue
            }
            if dots == ".." { _ = segments.popLast() }
            if index == parts.count - 1 { segments.append("") }
        }
        return "/" + segments.joined(separator: "/")
    }

    private static func userInformation(_ text: ArraySlice<UInt8>) -> String {
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        return parts.map { encoded($0, userInformationSet) }.joined(separator: ":")
    }

    private static func encoded(_ bytes: ArraySlice<UInt8>, _ set: String) -> String {
        PercentEncoding.encoded(bytes, keeping: (0x20...0x7E).filter { !set.utf8.contains($0) })
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
}
