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
        if let profile = metadata.profile { added += chunk("iCCP", Array("icc\0\0".utf8) + stored(profile)) }
        if let exif = metadata.exif { added += chunk("eXIf", exif) }
        // Keyword; not compressed, no language, no translation.
        if let xmp = metadata.xmp { added += chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp) }
        return Data(head + added + reader.bytes[self.head...])
    }

    private static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + payload
        var chunk: [UInt8] = []
        chunk.append(payload.count, count: 4)
        chunk += body
        chunk.append(Int(crc32(body)), count: 4)
        return chunk
    }

    /// A zlib stream (RFC 1950) of stored blocks. iCCP requires zlib, and a profile is too short to be worth
    /// compressing.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream.append(block.count, count: 2, .little)
            stream.append(~block.count, count: 2, .little)
            stream += block
        } while !rest.isEmpty
        stream.append(adler32(bytes), count: 4)
        return stream
    }

    private static func adler32(_ bytes: [UInt8]) -> Int {
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crcTable[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
}
