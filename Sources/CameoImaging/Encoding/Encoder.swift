internal import CameoModel
internal import Foundation

/// Pixels to bytes, without metadata, by the format's default quality unless another was asked for.
enum Encoder {
    static func encode(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> EncodedRendition
    {
        guard let bytes = picture.encoded(by: saver(for: plan)) else {
            throw .encodingFailed(VipsLibrary.takeErrorText())
        }
        let clean = plan.format == .webp ? WebPContainer.withoutMetadata(bytes) : bytes
        return EncodedRendition(bytes: clean, width: picture.width, height: picture.height, format: plan.format)
    }

    /// libaom's effort: 4 is its default and takes more than four times as long for a few per cent of bytes.
    private static let avifEffort = 2

    private static func saver(for plan: RenditionPlan) -> VipsSaver {
        let quality = plan.rendition.quality
        switch plan.format {
        case .jpeg: return .jpeg(quality: quality ?? 80)
        case .png: return .png
        case .webp, .auto: return .webp(quality: quality ?? 80)
        case .avif: return .avif(quality: quality ?? 50, effort: avifEffort)
        }
    }
}
