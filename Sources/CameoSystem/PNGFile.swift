package import Foundation

/// Writes PNG (https://www.w3.org/TR/png-3/) without compression.
package enum PNGFile {
    package static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A picture of 8 bits a channel. `pixels` are red, green, blue and alpha of each pixel, row by row from the top.
    package static func picture(_ pixels: [UInt8], width: Int, height: Int) -> Data {
        var rows: [UInt8] = []
        rows.reserveCapacity(height * (width * 4 + 1))
        for row in 0..<height {
            rows.append(0)  // no prediction
            rows += pixels[row * width * 4..<(row + 1) * width * 4]
        }
        let header = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 6, 0, 0, 0]
        return Data(signature + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", []))
    }

    /// A chunk with its length and checksum.
    package static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return bytes(UInt32(content.count)) + named + bytes(crc32(named))
    }

    /// A zlib stream (RFC 1950) of stored blocks.
    package static func stored(_ content: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = content[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            for length in [UInt16(block.count), ~UInt16(block.count)] {
                stream += withUnsafeBytes(of: length.littleEndian, Array.init)
            }
            stream += block
        } while !rest.isEmpty
        return stream + bytes(adler32(content))
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

    private static func adler32(_ content: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        // As many bytes as cannot overflow.
        for start in stride(from: 0, to: content.count, by: 5_552) {
            for byte in content[start..<min(content.count, start + 5_552)] {
                low += UInt32(byte)
                high += low
            }
            (low, high) = (low % 65_521, high % 65_521)
        }
        return high << 16 | low
    }

    /// The checksum of a chunk: its name and its content (ISO 3309).
    package static func crc32(_ content: some Sequence<UInt8>) -> UInt32 {
        ~content.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
}
