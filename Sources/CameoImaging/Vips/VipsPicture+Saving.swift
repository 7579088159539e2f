internal import CVips
internal import Foundation

/// What libvips writes, without metadata.
enum VipsSaver: Hashable {
    /// - Parameter quality: 1…100.
    case jpeg(quality: Int), png, webp(quality: Int)
    /// - Parameter effort: 0…9, libaom's.
    case avif(quality: Int, effort: Int)
}

extension VipsPicture {
    /// - Returns: nil if the encoder failed.
    func encoded(by saver: VipsSaver) -> Data? {
        var buffer: UnsafeMutableRawPointer?
        var length = 0
        let result: Int32 =
            switch saver {
            case .jpeg(let quality): cameo_vips_jpegsave(image, &buffer, &length, Int32(quality))
            case .png: cameo_vips_pngsave(image, &buffer, &length)
            case .webp(let quality): cameo_vips_webpsave(image, &buffer, &length, Int32(quality))
            case .avif(let quality, let effort):
                cameo_vips_avifsave(image, &buffer, &length, Int32(quality), Int32(effort))
            }
        guard let buffer else { return nil }
        guard result == 0 else {
            g_free(buffer)
            return nil
        }
        return Data(bytesNoCopy: buffer, count: length, deallocator: .custom { pointer, _ in g_free(pointer) })
    }
}
