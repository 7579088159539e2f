/// The part of a URI before its first colon (RFC 3986, section 3.1).
///
/// Like all URI and path parsing here, this works on bytes: a Swift `Character` merges a colon, slash or "@" with a
/// combining accent that follows it, but the kernel and libcurl do not.
package enum URIScheme {
    /// The scheme in lower case; nil if the text does not begin with one.
    package static func of(_ text: String) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text.utf8[..<colon]
        guard let first = scheme.first, isLetter(first),
            scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return String(decoding: scheme, as: UTF8.self).lowercased()
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
