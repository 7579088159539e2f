package import CameoSystem

/// The format of a source, recognised by its magic bytes, or drawn by the renderer.
package enum PictureFormat: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, tiff, heif, avif, svg
    /// Enabled only with `--allow-format`: libvips marks their loaders as untrusted.
    case jxl, pdf
    /// Not a file format: letters that the renderer draws (``Initials``).
    case initials
    /// Not a file format of pictures: a frame of a ``VideoContainer``.
    case video

    package var name: String {
        switch self {
        case .jpeg, .png, .gif, .tiff, .heif, .avif, .svg, .pdf: rawValue.uppercased()
        case .webp: "WebP"
        case .jxl: "JPEG XL"
        case .initials, .video: rawValue
        }
    }

    /// The media type registered with IANA, or `application/octet-stream` if there is none.
    package var mediaType: String {
        switch self {
        case .jpeg, .png, .gif, .webp, .tiff, .heif, .avif, .jxl: "image/\(rawValue)"
        case .svg: "image/svg+xml"
        case .pdf: "application/pdf"
        // Initials are drawn from a URI; stored bytes never have this format.
        case .initials, .video: MediaType.unknown
        }
    }

    /// Formats that an operator must allow individually.
    package static let optional: Set<PictureFormat> = [.jxl, .pdf]

    /// Whether the source is drawn at any requested size.
    package var isVector: Bool { self == .svg || self == .pdf || self == .initials }

    /// Whether the pages are frames in time.
    package var isAnimatable: Bool { self == .gif || self == .webp || self == .video }

    /// Maps a media type, in lower case and without parameters; nil if it names none of these formats.
    package init?(mediaType: String) {
        switch mediaType {
        case "image/jpeg", "image/jpg", "image/pjpeg": self = .jpeg
        case "image/png", "image/x-png", "image/apng": self = .png
        case "image/gif": self = .gif
        case "image/webp": self = .webp
        case "image/tiff": self = .tiff
        case "image/avif": self = .avif
        case "image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence": self = .heif
        case "image/svg+xml": self = .svg
        case "image/jxl": self = .jxl
        case "application/pdf": self = .pdf
        default: return nil
        }
    }

    /// Whether a source declared as this format may be the sniffed one: an AVIF file is also a HEIF file.
    package func covers(_ sniffed: PictureFormat?) -> Bool { sniffed == self || (self == .heif && sniffed == .avif) }

    /// The format that a file's first bytes announce. Nil for everything else, and if it cannot be read.
    package init?(sniffing file: OpenFile) { self.init(sniffing: file.bytes(in: 0..<Self.sniffedBytes)) }

    /// The number of leading bytes examined. An SVG's root element may follow a long comment.
    package static let sniffedBytes = 4_096

    /// Recognises a format by the file's first bytes; nil if they match none.
    ///
    /// libvips's own sniffers are not used: they run even for blocked loaders, and one of them never returns for
    /// a certain 185-byte file (https://github.com/libvips/libvips/pull/4693).
    ///
    /// - Parameter bytes: the file, or at least its first ``sniffedBytes`` bytes.
    package init?(sniffing bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(64))
        for (signature, format) in Self.signatures where start.starts(with: signature) {
            self = format
            return
        }
        if start.starts(with: "RIFF".utf8), start.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else if start.dropFirst(4).starts(with: "ftyp".utf8), let format = Self.sniffedFromBrands(start) {
            self = format
        } else if DrawingText.isSVG(bytes.prefix(Self.sniffedBytes)) {
            self = .svg
        } else {
            return nil
        }
    }

    private static let signatures: [([UInt8], PictureFormat)] = [
        ([0xFF, 0xD8, 0xFF], .jpeg),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        // Classic and BigTIFF, either byte order.
        ([0x49, 0x49, 0x2A, 0], .tiff),
        ([0x4D, 0x4D, 0, 0x2A], .tiff),
        ([0x49, 0x49, 0x2B, 0], .tiff),
        ([0x4D, 0x4D, 0, 0x2B], .tiff),
        // A bare codestream, and one in a container.
        ([0xFF, 0x0A], .jxl),
        ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
        (Array("%PDF-".utf8), .pdf),
    ]

    /// ISO 14496-12: `ftyp` is followed by the major brand, a version, and the compatible brands up to the end of the
    /// box.
    private static func sniffedFromBrands(_ start: [UInt8]) -> PictureFormat? {
        let length = start.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let box = start.prefix(max(12, min(length, start.count)))
        guard box.count >= 12 else { return nil }
        func brand(at offset: Int) -> String { String(decoding: box[offset..<offset + 4], as: UTF8.self) }
        let compatible = stride(from: 16, to: box.count - 3, by: 4).map(brand(at:))
        switch brand(at: 8) {
        case "avif", "avis": return .avif
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heif
        // Coded as AVC, JPEG 2000 or VVC: refused by name.
        case "avci", "avcs", "j2ki", "j2is", "vvic", "vvis": return .heif
        case "mif1", "msf1", "miaf": return compatible.contains { $0 == "avif" || $0 == "avis" } ? .avif : .heif
        default: return nil
        }
    }
}

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
