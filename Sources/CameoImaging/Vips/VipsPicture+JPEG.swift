internal import CJPEG
internal import CVips
internal import CameoModel
internal import Foundation

extension VipsPicture {
    /// The picture as a JPEG file without metadata.
    ///
    /// - Returns: nil if it could not be computed, or if libjpeg refused it.
    func jpeg(quality: Int, chroma: Rendition.Encoding.ChromaSubsampling, isProgressive: Bool) -> Data? {
        guard let pixels = materialized(), let start = vips_image_get_data(pixels.image) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        var length = 0
        let failure = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(cameo_jpeg_message_size)) { message in
            let result = cameo_jpeg_encode(
                start.assumingMemoryBound(to: UInt8.self),
                Int32(width),
                Int32(height),
                Int32(bands),
                Int32(quality),
                isProgressive ? 1 : 0,
                chroma == .quarter ? 1 : 0,
                &bytes,
                &length,
                message.baseAddress
            )
            return result == 0 ? nil : message.baseAddress.map { String(cString: $0) }
        }
        if let failure { cameo_vips_note_error("jpegsave", failure) }
        guard failure == nil, let bytes else { return nil }
        return Data(bytesNoCopy: bytes, count: length, deallocator: .free)
    }
}
