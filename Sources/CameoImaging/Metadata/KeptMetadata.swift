internal import CameoModel
internal import Foundation

/// The metadata of a thumbnail's file. Encoders never write any; the containers add exactly this.
struct KeptMetadata {
    /// EXIF as a TIFF file, without the `Exif` prefix.
    let exif: [UInt8]?
    /// An XMP packet in UTF-8.
    let xmp: [UInt8]?
    let profile: [UInt8]?

    var isEmpty: Bool { exif == nil && xmp == nil && profile == nil }

    /// `size` is the size of one frame; `profile` is the profile to embed, if any.
    init(for plan: RenditionPlan, size: PixelSize, profile: ColorProfile?) {
        self.profile = profile?.bytes
        let keep = plan.rendition.encoding.keep
        exif = keep.isDisjoint(with: [.copyright, .exif, .gps]) ? nil : Self.exif(for: plan, size: size)
        xmp =
            keep.contains(.xmp)
            ? plan.metadata.header.metadata(.xmp)
                .flatMap { XMPPacket($0, keepingPlace: keep.contains(.gps)) }?.bytes : nil
    }

    private static func exif(for plan: RenditionPlan, size: PixelSize) -> [UInt8]? {
        guard let source = plan.metadata.header.metadata(.exif) else { return nil }
        let block = EXIFBlock(
            Array(source),
            keeping: plan.rendition.encoding.keep,
            size: size,
            isSRGB: !plan.keepsSourceProfile
        )
        return block?.bytes
    }
}
