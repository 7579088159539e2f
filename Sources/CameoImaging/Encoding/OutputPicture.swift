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
    private let size: PixelSize
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
        metadata = KeptMetadata(for: plan, size: size, profile: profile)
        format = plan.format
        hasAlpha = !isOpaque
    }

    func encoded(by encode: (borrowing VipsPicture) -> Data?) throws(ImagingError) -> Data {
        guard let bytes = encode(picture) else { throw Self.failure }
        let file: Data? =
            switch format {
            case .jpeg: metadata.isEmpty ? bytes : JPEGContainer.adding(metadata, to: bytes)
            case .png: metadata.isEmpty ? bytes : PNGContainer.adding(metadata, to: bytes)
            case .avif: metadata.isEmpty ? bytes : AVIFContainer.adding(metadata, to: bytes)
            case .webp, .auto, .source:
                WebPContainer.replacingMetadata(of: bytes, by: metadata, size: size, hasAlpha: hasAlpha)
            case .gif: if let comment = metadata.comment { GIFContainer.adding(comment, to: bytes) } else { bytes }
            }
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
                if plan.format == .jpeg || plan.format == .png { return profile }
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

    private static var failure: ImagingError { .encodingFailed() }

    private static func made(_ picture: consuming VipsPicture?) throws(ImagingError) -> VipsPicture {
        guard let picture else { throw failure }
        return picture
    }
}

/// The chunks of a PNG file (ISO/IEC 15948); metadata goes behind the first.
enum PNGContainer {
    /// The bytes of signature and header chunk.
    private static let head = 8 + 25

    /// - Returns: nil if this is not a PNG file.
    static func adding(_ metadata: KeptMetadata, to file: Data) -> Data? {
        guard file.name(at: 12) == "IHDR", let head = file.slice(at: 0, count: head) else { return nil }
        var added: [UInt8] = []
        // iCCP requires zlib, and a profile is too short to be worth compressing.
        if let profile = metadata.profile {
            added += PNGFile.chunk("iCCP", Array("icc\0\0".utf8) + PNGFile.stored(profile))
        }
        if let exif = metadata.exif { added += PNGFile.chunk("eXIf", exif) }
        // Keyword; not compressed, no language, no translation.
        if let xmp = metadata.xmp { added += PNGFile.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp) }
        return head + added + file[head.endIndex...]
    }
}

/// The blocks of a GIF file (GIF89a).
enum GIFContainer {
    /// The file with a comment behind its colours; nil if this is none.
    static func adding(_ comment: [UInt8], to file: Data) -> Data? {
        guard file.starts(with: "GIF89a".utf8), let flags = file.dropFirst(10).first,
            let head = file.slice(at: 0, count: 13 + 3 * GIFBlocks.colors(flags))
        else { return nil }
        var added: [UInt8] = [0x21, 0xFE]
        for start in stride(from: 0, to: comment.count, by: 255) {
            let block = comment[start...].prefix(255)
            added.append(UInt8(block.count))
            added += block
        }
        return head + added + [0] + file[head.endIndex...]
    }
}

/// The segments at the start of a JPEG file (ITU T.81, annex B), which hold its metadata.
enum JPEGContainer {
    private static let startOfImage: [UInt8] = [0xFF, 0xD8]
    private static let jfif: [UInt8] = [0xFF, 0xE0]
    /// The longest payload behind a segment's length.
    private static let longestPayload = 65_533
    private static let profileName = Array("ICC_PROFILE\0".utf8)

    /// - Returns: nil if this is not a JPEG file, or if the profile is too long for one.
    static func adding(_ metadata: KeptMetadata, to file: Data) -> Data? {
        guard file.starts(with: startOfImage) else { return nil }
        // JFIF has to come first, and readers of EXIF expect that.
        var start = 2
        if file.dropFirst(2).starts(with: jfif), let length = file.number(at: 4, count: 2) {
            start += 2 + length
        }
        guard let head = file.slice(at: 0, count: start) else { return nil }
        var added: [UInt8] = []
        if let exif = metadata.exif { added += segment(0xE1, Array("Exif\0\0".utf8) + exif) }
        if let xmp = metadata.xmp { added += segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + xmp) }
        if let profile = metadata.profile {
            // Numbered pieces (ICC.1:2010, B.4).
            let most = longestPayload - profileName.count - 2
            let pieces = stride(from: 0, to: profile.count, by: most).map { profile[$0...].prefix(most) }
            guard pieces.count <= 255 else { return nil }
            for (index, piece) in pieces.enumerated() {
                added += segment(0xE2, profileName + [UInt8(index + 1), UInt8(pieces.count)] + piece)
            }
        }
        return head + added + file[head.endIndex...]
    }

    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = [0xFF, marker]
        segment.append(payload.count + 2, count: 2)
        return segment + payload
    }
}
