internal import CameoModel

/// One rendition with everything that its steps need to know.
struct RenditionPlan {
    let rendition: Rendition
    let geometry: Geometry
    /// What is written: `auto` decided.
    let format: Rendition.Format
    /// What shows through transparent pixels and in padding.
    let background: Color

    /// The source's size is in upright pixels. Refuses a rendition that would exceed the limits.
    init(_ rendition: Rendition, source: PixelSize, maximumPixels: Int) throws(ImagingError) {
        let geometry = Geometry(of: rendition, source: source)
        for size in [geometry.resized, geometry.final] where size.width * size.height > maximumPixels {
            throw .renditionTooLarge(width: size.width, height: size.height, limit: maximumPixels)
        }
        let (width, height) = (geometry.final.width, geometry.final.height)
        guard Rendition.edgeRange.contains(width), Rendition.edgeRange.contains(height) else {
            throw .renditionTooLarge(width: width, height: height, limit: maximumPixels)
        }
        self.rendition = rendition
        self.geometry = geometry
        format = rendition.format == .auto ? .webp : rendition.format
        background = rendition.background ?? (format.hasAlpha ? .transparent : .white)
    }
}

extension Rendition.Format {
    /// Whether transparent pixels can be written.
    var hasAlpha: Bool {
        switch self {
        case .auto, .png, .webp, .avif: true
        case .jpeg: false
        }
    }
}
