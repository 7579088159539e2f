internal import CVips
internal import CameoModel
internal import CameoSystem
internal import Foundation

/// The pixels as an encoder needs them, with the metadata that goes into the file. It can be encoded many times.
struct OutputPicture: ~Copyable {
    private let picture: VipsPicture
    private let metadata: KeptMetadata
    private let format: Rendition.Format
    /// The size of one frame in pixels.
    let size: PixelSize
    let isAnimated: Bool
    let hasAlpha: Bool

    init(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) throws(ImagingError) {
        var output = picture.sharingReference()
        guard let isOpaque = output.isOpaque else { throw Self.failure }
        // A fully opaque alpha band costs bytes and puts readers on their slow path.
        if isOpaque, output.hasAlpha { output = try Self.made(output.bands(from: 0, count: output.colorBands)) }
        let profile = try Self.profile(for: &output, plan)
        let animation = plan.sheet == nil ? plan.animation : nil
        let size = PixelSize(output.width, output.height / (animation?.frames ?? 1))
        if let animation { output = try Self.made(output.timed(animation)) }
        self.picture = output
        self.size = size
        isAnimated = animation != nil
        metadata = KeptMetadata(for: plan, size: size, profile: profile)
        format = plan.format
        hasAlpha = !isOpaque
    }

    func encoded(by encode: (borrowing VipsPicture) -> Data?) throws(ImagingError) -> Data {
        guard let bytes = encode(picture) else { throw Self.failure }
        let file = format.encoder.adding(metadata, to: bytes, size: size, hasAlpha: hasAlpha)
        guard let file else { throw .encodingFailed("the encoder wrote a file that metadata cannot be added to") }
        return file
    }

    /// The profile to embed, if any, with pixels converted to match it.
    private static func profile(
        for picture: inout VipsPicture,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> ColorProfile? {
        if plan.keepsSourceProfile, let data = plan.source.header.metadata(.profile) {
            guard let profile = ColorProfile(data) else { throw .unsupportedPixels("with a broken colour profile") }
            switch (profile.space, picture.colorBands == 1) {
            case (.rgb, false): return profile
            case (.rgb, true):
                // Three equal values are grey in any RGB profile.
                picture = try made(picture.converted(to: VIPS_INTERPRETATION_sRGB))
                return profile
            case (.grey, true):
                if plan.format.encoder.hasGreyProfiles { return profile }
                // The file has three colour channels, the profile one.
                picture = try made(picture.converted(byProfile: data))
            case (.grey, false):
                // Coloured after decoding, so the profile no longer describes the pixels.
                break
            }
        }
        guard plan.rendition.encoding.keep.contains(.icc), plan.format.traits.options.contains(.keepProfile) else {
            return nil
        }
        guard let data = VipsLibrary.profileOfSRGB(), let profile = ColorProfile(data) else { throw failure }
        // The RGB profile does not describe one grey channel.
        if picture.colorBands == 1 { picture = try made(picture.converted(to: VIPS_INTERPRETATION_sRGB)) }
        return profile
    }

    private static var failure: ImagingError { .encodingFailed() }

    private static func made(_ picture: consuming VipsPicture?) throws(ImagingError) -> VipsPicture {
        guard let picture else { throw failure }
        return picture
    }
}
