/// Puts into finished files what libvips' savers leave out.
enum MetadataSurgery {
    /// An eXIf chunk behind the header (PNG 1.5 extensions, 3.7): an artist, and an orientation.
    static func addingEXIF(toPNG png: [UInt8], orientation: Int) -> [UInt8] {
        let artist = Array("\(Fixture.secret)-ARTIST\0".utf8)
        // Orientation (0x0112), SHORT; Artist (0x013B), ASCII, behind the directory.
        let tiff: [UInt8] =
            Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 2]
            + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0]
            + [0x01, 0x3B, 0, 2, 0, 0, 0, UInt8(artist.count), 0, 0, 0, 38] + [0, 0, 0, 0] + artist
        let body = Array("eXIf".utf8) + tiff
        let chunk = big(tiff.count, 4) + body + big(Int(Pictures.crc32(body)), 4)
        // Signature and IHDR.
        return Array(png[..<33]) + chunk + png[33...]
    }

    /// A comment extension before the trailer (GIF89a, 24).
    static func addingComment(toGIF gif: [UInt8]) -> [UInt8] {
        let text = Array("\(Fixture.secret)-COMMENT".utf8)
        return gif.dropLast() + [0x21, 0xFE, UInt8(text.count)] + text + [0] + gif.suffix(1)
    }

    static func big(_ number: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - $0))) }
    }
}
