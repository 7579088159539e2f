internal import CVips
internal import CameoModel
internal import CameoSystem
internal import Foundation

/// PNG (ISO/IEC 15948) by libvips; metadata goes into chunks behind the first.
enum PNGEncoder: FormatEncoder {
    static let hasGreyProfiles = true

    /// The bytes of signature and header chunk.
    private static let head = 8 + 25

    static func file(of picture: borrowing VipsPicture, _ encoding: Rendition.Encoding, quality: Int?) -> Data? {
        // The effort is that of zlib, and of the quantiser.
        guard let quality else {
            return picture.saved { cameo_vips_pngsave($0, $1, $2, Int32(encoding.effort ?? 6)) }
        }
        let effort = Int32(encoding.effort ?? 7)
        return picture.saved { cameo_vips_pngsave_palette($0, $1, $2, effort, Int32(quality), effort) }
    }

    static func adding(_ metadata: KeptMetadata, to file: Data, size: PixelSize, hasAlpha: Bool) -> Data? {
        if metadata.isEmpty { return file }
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
