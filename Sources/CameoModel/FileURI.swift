/// A `file:` URI (RFC 8089, without its shorter forms). Its path is bytes and need not be valid text.
package struct FileURI: Hashable, Sendable {
    private static let slash = UInt8(ascii: "/")

    /// An absolute path without `.`, `..`, empty components, NUL or a trailing slash (except `/` itself).
    package let path: [UInt8]

    /// - Parameter path: a relative path is resolved against the working directory.
    package init(path: [UInt8]) {
        self.path = FilePaths.absolute(path)
    }

    /// - Throws: the reason why the URI names no local file, phrased to follow the URI in a sentence.
    package init(parsing source: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        let rest = source.utf8.dropFirst("file:".utf8.count)
        guard rest.starts(with: "//".utf8) else { throw refuse("is not written as file:///folder/picture.jpg") }
        let authority = rest.dropFirst(2).prefix { $0 != Self.slash }
        let host = String(decoding: authority, as: UTF8.self)
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw refuse("names a host; only local files, file:///folder/picture.jpg, can be read")
        }
        let encoded = rest[authority.endIndex...]
        guard encoded.first == Self.slash else { throw refuse("has no absolute path") }
        guard !encoded.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw refuse("has a ? or #; in a file name, write them as %3F and %23")
        }
        guard let bytes = PercentEncoding.decoded(encoded) else {
            throw refuse("has a % that is not followed by two hexadecimal digits")
        }
        guard !bytes.contains(0) else { throw refuse("has a NUL, which no file name can contain") }
        path = FilePaths.absolute(bytes)
    }

    /// The URI, with everything but RFC 3986's unreserved characters and `/` percent-encoded.
    package var text: String { "file://" + PercentEncoding.encoded(path, keeping: [Self.slash]) }
}
