internal import CameoModel

/// The path that a `file:` URI names (RFC 8089, without its shorter forms).
struct FileURL {
    private static let slash = UInt8(ascii: "/")

    /// Absolute, without `.`, `..`, empty components and a slash at the end, except for `/` itself.
    let path: String

    /// - Throws: `source.invalid`.
    init(parsing source: String) throws(JobFailure) {
        func refuse(_ reason: String) -> JobFailure { .fetch(.sourceInvalid, "\(SourceName.of(source)) \(reason)") }
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
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw refuse("is not UTF-8") }
        path = Self.normalized(decoded)
    }

    /// Removes dot segments (RFC 3986, section 5.2.4), encoded or not.
    static func normalized(_ path: String) -> String {
        var components: [Substring.UTF8View] = []
        for component in path.utf8.split(separator: slash) where !component.elementsEqual(".".utf8) {
            if component.elementsEqual("..".utf8) {
                _ = components.popLast()
            } else {
                components.append(component)
            }
        }
        return "/" + components.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }
}
