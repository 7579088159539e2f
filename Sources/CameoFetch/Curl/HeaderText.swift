internal import CameoModel
internal import Glibc

/// What the bytes of a header's value say (RFC 9110, section 5.5).
enum HeaderText {
    private static let urls: Set = ["location", "content-location"]

    /// Without the white space around it; of an empty value libcurl 7.88 leaves the line's end.
    ///
    /// Bytes that are no UTF-8 are ISO-8859-1, as HTTP once had it. In a URL they are percent-encoded, and so stay the bytes
    /// that the server's path has.
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
