internal import CVips
internal import CameoModel
internal import Foundation

/// The pixels as an encoder needs them, with the metadata that goes into the file. It can be encoded many times.
struct OutputPicture: ~Copyable {
    private let picture: VipsPicture
    private let metadata: KeptMetadata
    private let format: Rendition.Format
    /// The size of one frame in pixels.
    private let size: PixelSize
    let hasAlpha: Bool

    init(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) throws(ImagingError) {
        var output = picture.sharingReference()
        guard let isOpaque = output.isOpaque else { throw Self.failure }
        // A fully opaque alpha band costs bytes and puts readers on their slow path.
        if isOpaque, output.hasAlpha { output = try Self.made(output.firstBands(output.colorBands)) }
        let profile = try Self.profile(for: &output, plan)
        let animation = plan.sheet == nil ? plan.animation : nil
        let size = PixelSize(output.width, output.height / (animation?.frames ?? 1))
        if let animation { output = try Self.made(output.timed(animation)) }
        self.picture = output
        self.size = size
        metadata = KeptMetadata(for: plan, size: size, profile: profile)
        format = plan.format
        hasAlpha = !isOpaque
    }

    func encoded(by saver: VipsSaver) throws(ImagingError) -> Data {
        guard let bytes = picture.encoded(by: saver) else { throw Self.failure }
        let file: Data? =
            switch format {
            case .jpeg: metadata.isEmpty ? bytes : JPEGContainer.adding(metadata, to: bytes)
            case .png: metadata.isEmpty ? bytes : PNGContainer.adding(metadata, to: bytes)
            case .avif: metadata.isEmpty ? bytes : AVIFContainer.adding(metadata, to: bytes)
            case .webp, .auto, .source:
                WebPContainer.replacingMetadata(of: bytes, by: metadata, size: size, hasAlpha: hasAlpha)
            case .gif: bytes
            }
        guard let file else { throw .encodingFailed("the encoder wrote a file that metadata cannot be added to") }
        return file
    }

    /// The profile to embed, if any, with pixels converted to match it.
    private static func profile(
        for picture: inout VipsPicture,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> ColorProfile? {
        if plan.keepsSourceProfile, let data = plan.metadata.header.metadata(.profile) {
            guard let profile = ColorProfile(data) else { throw .unsupportedPixels("with a broken colour profile") }
            switch (profile.space, picture.colorBands == 1) {
            case (.rgb, false): return profile
            case (.rgb, true):
                // Three equal values are grey in any RGB profile.
                picture = try made(picture.converted(to: VIPS_INTERPRETATION_sRGB))
                return profile
            case (.grey, true):
                if plan.format.hasGrey { return profile }
                // The file has three colour channels, the profile one.
                picture = try made(picture.converted(byProfile: data))
            case (.grey, false):
                // Coloured after decoding, so the profile no longer describes the pixels.
                break
            }
        }
        guard plan.rendition.encoding.keep.contains(.icc), plan.format != .gif else { return nil }
        guard let data = VipsLibrary.profileOfSRGB(), let profile = ColorProfile(data) else { throw failure }
        // The RGB profile does not describe one grey channel.
        if picture.colorBands == 1 { picture = try made(picture.converted(to: VIPS_INTERPRETATION_sRGB)) }
        return profile
    }

    private static var failure: ImagingError { .encodingFailed(VipsLibrary.takeErrorText()) }

    private static func made(_ picture: consuming VipsPicture?) throws(ImagingError) -> VipsPicture {
        guard let picture else { throw failure }
        return picture
    }
}

extension Rendition.Format {
    fileprivate var hasGrey: Bool { self == .jpeg || self == .png }
}
