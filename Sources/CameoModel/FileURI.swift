/// A `file:` URI (RFC 8089, without its shorter forms). The path that it names is bytes: it need not be text.
package struct FileURI: Hashable, Sendable {
    private static let slash = UInt8(ascii: "/")

    /// Absolute, without `.`, `..`, empty components, NUL, and a slash at the end, except for `/` itself.
    package let path: [UInt8]

    /// - Parameter path: a relative one is taken from the working directory.
    package init(path: [UInt8]) {
        self.path = FilePaths.absolute(path)
    }

    /// - Throws: why it names no file of this machine; the reason continues the sentence that the URI begins.
    package init(parsing source: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        let rest = source.utf8.dropFirst("file:".utf8.count)
        guard rest.starts(with: "//".utf8) else { throw refuse("is not written as file:///folder/picture.jpg") }
        let authority = rest.dropFirst(2).prefix { $0 != Self.slash }
        let host = String(decoding: authority, as: UTF8.self)
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw refuse("names a host; only files of this machine, file:///folder/picture.jpg, can be read")
        }
        let encoded = rest[authority.endIndex...]
        guard encoded.first == Self.slash else { throw refuse("has no absolute path") }
        guard !encoded.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw refuse("has a ? or #; inside a file's name they are written %3F and %23")
        }
        guard let bytes = PercentEncoding.decoded(encoded) else {
            throw refuse("has a % that two hexadecimal digits do not follow")
        }
        guard !bytes.contains(0) else { throw refuse("has a NUL, which no file name may have") }
        path = FilePaths.absolute(bytes)
    }

    /// With all but RFC 3986's unreserved characters and `/` percent-encoded.
    package var text: String { "file://" + PercentEncoding.encoded(path, keeping: [Self.slash]) }
}
