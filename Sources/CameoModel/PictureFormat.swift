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
        case .jpeg: "JPEG"
        case .png: "PNG"
        case .gif: "GIF"
        case .webp: "WebP"
        case .tiff: "TIFF"
        case .heif: "HEIF"
        case .avif: "AVIF"
        case .svg: "SVG"
        case .jxl: "JPEG XL"
        case .pdf: "PDF"
        case .initials: "initials"
        case .video: "video"
        }
    }

    /// Formats that an operator must allow individually.
    package static let optional: Set<PictureFormat> = [.jxl, .pdf]

    /// Whether the source is drawn at any requested size.
    package var isVector: Bool { self == .svg || self == .pdf || self == .initials }

    /// Whether the pages are frames in time.
    package var isAnimatable: Bool { self == .gif || self == .webp || self == .video }
}

extension Rendition.Format {
    /// The format to write for a source; never `auto` or `source`.
    package func written(for source: PictureFormat) -> Rendition.Format {
        switch self {
        case .auto: return .webp
        case .source:
            switch source {
            case .jpeg, .video: return .jpeg
            case .png, .svg, .pdf, .initials: return .png
            case .tiff: return .png
            case .gif: return .gif
            case .webp: return .webp
            case .avif, .heif: return .avif
            case .jxl: return .webp
            }
        case .jpeg, .png, .webp, .avif, .gif: return self
        }
    }
}

extension PictureFormat {
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
}
