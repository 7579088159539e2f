internal import CameoModel
internal import Foundation

/// The chunks of a PNG file (ISO/IEC 15948); metadata goes behind the first.
enum PNGContainer {
    /// The bytes of signature and header chunk.
    private static let head = 8 + 25

    /// - Returns: nil if this is not a PNG file.
    static func adding(_ metadata: KeptMetadata, to file: Data) -> Data? {
        let reader = ByteReader(file)
        guard reader.name(at: 12) == "IHDR", let head = reader.slice(at: 0, count: head) else { return nil }
        var added: [UInt8] = []
        // iCCP requires zlib, and a profile is too short to be worth compressing.
        if let profile = metadata.profile {
            added += PNGFile.chunk("iCCP", Array("icc\0\0".utf8) + PNGFile.stored(profile))
        }
        if let exif = metadata.exif { added += PNGFile.chunk("eXIf", exif) }
        // Keyword; not compressed, no language, no translation.
        if let xmp = metadata.xmp { added += PNGFile.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp) }
        return Data(head + added + reader.bytes[self.head...])
    }
}
