internal import CameoModel
internal import Glibc

/// Decodes the bytes of a header value (RFC 9110, section 5.5).
enum HeaderText {
    private static let urls: Set = ["location", "content-location"]

    /// The value without surrounding white space, and without the line end that libcurl 7.88 leaves in an empty value.
    ///
    /// Bytes that are not UTF-8 are read as ISO-8859-1, which HTTP once specified. In a URL they are percent-encoded, so that
    /// the bytes of the server's path are preserved.
    static func text(_ value: UnsafePointer<CChar>, of name: String) -> String {
        let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value)).drop(while: isSpace)
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? bytes.startIndex
        let trimmed = bytes[..<end]
        if let text = String(validating: trimmed, as: UTF8.self) { return text }
        let isURL = urls.contains(name.lowercased())
        return trimmed.map { byte in
            isURL && byte >= 0x80 ? "%\(Hexadecimal.encode([byte]).uppercased())" : String(Unicode.Scalar(byte))
        }.joined()
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0D, 0x20].contains(byte) }
}
