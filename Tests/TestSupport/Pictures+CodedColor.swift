internal import Foundation

extension Pictures {
    /// Where a chunk is put into a PNG.
    package enum ChunkPlace: Sendable {
        case beforePixels
        case behindPixels
    }

    /// A PNG of these pixels.
    package static func png(_ name: String, of pixels: PixelFile) async throws -> String {
        try await file(name) { path in
            try pixels.write(to: "\(path).v")
            try await vips("pngsave", "\(path).v", path)
        }
    }

    /// A copy of a PNG with a cICP chunk (PNG, third edition, 11.3.2.6), right ones having four bytes: primaries,
    /// transfer, matrix, range.
    package static func withCICP(
        _ payload: [UInt8],
        _ png: String,
        to path: String,
        place: ChunkPlace = .beforePixels
    ) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: png)))
        let body = Array("cICP".utf8) + payload
        let chunk = MetadataSurgery.big(payload.count, 4) + body + MetadataSurgery.big(Int(crc32(body)), 4)
        // Behind signature and IHDR, or before IEND.
        let offset = place == .beforePixels ? 33 : bytes.count - 12
        try Data(bytes[..<offset] + chunk + bytes[offset...]).write(to: URL(filePath: path))
    }
}
