internal import CVips
internal import CameoModel
internal import Foundation

/// GIF (GIF89a) by libvips; a comment goes into a block behind the colours.
enum GIFEncoder: FormatEncoder {
    static func file(of picture: borrowing VipsPicture, _ encoding: Rendition.Encoding, quality: Int?) -> Data? {
        picture.saved { cameo_vips_gifsave($0, $1, $2, Int32(encoding.effort ?? 7)) }
    }

    static func adding(_ metadata: KeptMetadata, to file: Data, size: PixelSize, hasAlpha: Bool) -> Data? {
        guard let comment = metadata.comment else { return file }
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
