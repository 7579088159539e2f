/// The syntax of media types, as used in `Content-Type`.
package enum MediaType {
    package static let unknown = "application/octet-stream"

    /// Whether the text is `type/subtype` in RFC 9110 token characters, with or without parameters, and contains
    /// nothing that could end a header field.
    package static func isWellFormed(_ text: String) -> Bool {
        let type = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= 200 && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && parts.count == 2
            && parts.allSatisfy(isToken)
    }

    /// Whether the text is a token (RFC 9110, section 5.6.2), which needs no quotes.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"(),/:;<=>?@[\\]{}\"".utf8.contains($0) }
    }
}

extension PictureFormat {
    /// The media type registered with IANA, or `application/octet-stream` if there is none.
    package var mediaType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .gif: "image/gif"
        case .webp: "image/webp"
        case .tiff: "image/tiff"
        case .heif: "image/heif"
        case .avif: "image/avif"
        case .svg: "image/svg+xml"
        case .jxl: "image/jxl"
        case .pdf: "application/pdf"
        // Initials are drawn from a URI; stored bytes never have this format.
        case .initials, .video: MediaType.unknown
        }
    }
}
