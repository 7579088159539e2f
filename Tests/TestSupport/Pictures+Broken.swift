internal import Foundation

extension Pictures {
    /// The photo, cut off after this share (0…1) of its bytes.
    package static func truncated(_ ending: String, share: Double) async throws -> String {
        try await file("truncated-\(share).\(ending)") { path in
            let whole = try await Data(contentsOf: URL(filePath: photo(ending)))
            try whole.prefix(Int(Double(whole.count) * share)).write(to: URL(filePath: path))
        }
    }

    /// A file with exactly these bytes.
    package static func bytes(_ name: String, _ bytes: [UInt8]) async throws -> String {
        try await file(name) { try Data(bytes).write(to: URL(filePath: $0)) }
    }

    /// A PNG of some fifty bytes that claims to be this large: a header, an empty data chunk, an end.
    package static func pngHeader(claiming width: UInt32, _ height: UInt32) async throws -> String {
        func big(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - $0 * 8)) } }
        func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
            let body = Array(type.utf8) + payload
            return big(UInt32(payload.count)) + body + big(crc32(body))
        }
        let header = big(width) + big(height) + [8, 2, 0, 0, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // An empty zlib stream.
        let data: [UInt8] = [0x78, 0x9C, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01]
        let all = signature + chunk("IHDR", header) + chunk("IDAT", data) + chunk("IEND", [])
        return try await bytes("claims-\(width)x\(height).png", all)
    }

    /// Gzip's signature and the start of a stream that never comes: libvips 8.14's SVG sniffer hangs on its kind.
    package static func truncatedSVGZ() async throws -> String {
        try await file("hang.svgz") { path in
            let svg = Data("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>".utf8)
            let result = try await run("gzip", ["-c"], input: svg)
            try result.standardOutput.prefix(40).write(to: URL(filePath: path))
        }
    }

    /// So many black RGB pixels, in libvips' own format.
    package static func blank(_ width: Int, _ height: Int) async throws -> String {
        try await file("blank-\(width)x\(height).v") { path in
            try await vips("black", path, "\(width)", "\(height)", "--bands", "3")
        }
    }

    /// A picture as another file, by one of libvips' savers and its options: `["pngsave", "--interlace"]`.
    package static func converted(_ path: String, to name: String, by saver: [String]) async throws -> String {
        try await file(name) { made in
            try await tool("vips", [saver[0], path, made] + saver.dropFirst())
        }
    }

    /// 8,000 × 8,000 RGB pixels, interlaced, so that a decoder has to hold all 183 MiB of them; a small file.
    package static func largeInterlacedPNG() async throws -> String {
        try await file("large-interlaced.png") { path in
            try await vips("black", "\(path).v", "8000", "8000", "--bands", "3")
            try await vips("pngsave", "\(path).v", path, "--interlace", "--compression", "1")
        }
    }

    /// PNG's checksum (ISO 3309).
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
