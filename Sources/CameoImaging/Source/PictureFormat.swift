/// The formats that are decoded: those whose libvips loaders are trusted, named by our own reading of magic bytes.
package enum PictureFormat: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, tiff, heif, avif

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
        }
    }
}
