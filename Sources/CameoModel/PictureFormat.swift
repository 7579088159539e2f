/// What a source is made of: formats that are decoded, named by our own reading of magic bytes, and what is drawn.
package enum PictureFormat: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, tiff, heif, avif, svg
    /// Only with `--allow-format`: libvips does not vouch for their decoders.
    case jxl, pdf
    /// No file's format: letters that the renderer draws (``Initials``).
    case initials

    /// As people write it.
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
        }
    }

    /// Those that have to be allowed, one by one.
    package static let optional: Set<PictureFormat> = [.jxl, .pdf]

    /// Whether it is drawn at whatever size is wanted.
    package var isVector: Bool { self == .svg || self == .pdf || self == .initials }

    /// Whether its pages are frames in time.
    package var isAnimatable: Bool { self == .gif || self == .webp }
}

extension Rendition.Format {
    /// What is written for a source of this format; never `auto` or `source`.
    package func written(for source: PictureFormat) -> Rendition.Format {
        switch self {
        case .auto: return .webp
        case .source:
            switch source {
            case .jpeg: return .jpeg
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
    /// By a media type, in lower case and without parameters; nil for one that names no format here.
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

    /// Whether what is declared as this may turn out to be the other: an AVIF file is a HEIF file.
    package func covers(_ sniffed: PictureFormat?) -> Bool { sniffed == self || (self == .heif && sniffed == .avif) }
}
