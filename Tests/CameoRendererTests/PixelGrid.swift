import CameoModel
import Foundation
import TestSupport
import Testing

/// All pixels of a picture, read or to be written.
struct PixelGrid {
    let width: Int
    let height: Int
    let bands: Int
    /// Row by row, pixel by pixel.
    let bytes: [UInt8]

    /// A pixel's bands. A place outside the picture is a failure of the test, not the end of all tests, and all zeros.
    subscript(_ x: Int, _ y: Int) -> [Int] {
        guard (0..<width).contains(x), (0..<height).contains(y) else {
            Issue.record("\(x), \(y) is outside \(width) × \(height) pixels")
            return [0, 0, 0, 0]
        }
        let start = (y * width + x) * bands
        return bytes[start..<start + bands].map(Int.init)
    }

    /// The positions of all pixels.
    var places: [(x: Int, y: Int)] { (0..<width * height).map { ($0 % width, $0 / width) } }

    init(_ width: Int, _ height: Int, pixel: (_ x: Int, _ y: Int) -> [UInt8]) {
        var bytes: [UInt8] = []
        for y in 0..<height { for x in 0..<width { bytes += pixel(x, y) } }
        (self.width, self.height, self.bands) = (width, height, bytes.count / (width * height))
        self.bytes = bytes
    }

    init(of rendition: EncodedRendition) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(rendition.bytes, to: "rendition.\(rendition.format.fileExtension)")
        try await Pictures.vips("rawsave", path, folder.path("pixels.raw"))
        bytes = Array(try Data(contentsOf: URL(filePath: folder.path("pixels.raw"))))
        (width, height) = (rendition.width, rendition.height)
        bands = bytes.count / (width * height)
    }

    /// Writes an uncompressed TIFF, grey or RGB; with an even number of bands the last is alpha, not premultiplied.
    func write(to name: String, in folder: TemporaryFolder) throws -> String {
        let (isColored, hasAlpha) = (bands > 2, bands % 2 == 0)
        let entries: [(tag: UInt16, kind: UInt16, count: Int, value: Int)] = [
            (256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, isColored ? 2 : 1),
            (273, 4, 1, 8), (277, 3, 1, bands), (278, 3, 1, height), (279, 4, 1, bytes.count), (284, 3, 1, 1),
            (338, 3, hasAlpha ? 1 : 0, 2),
        ].filter { $0.2 > 0 }
        var data = Data("II*\0".utf8)
        func append(_ number: Int, bytes: Int) {
            for byte in 0..<bytes { data.append(UInt8(number >> (8 * byte) & 255)) }
        }
        append(8 + bytes.count + bytes.count % 2, bytes: 4)
        data.append(contentsOf: bytes)
        if bytes.count % 2 == 1 { data.append(0) }
        append(entries.count, bytes: 2)
        for entry in entries {
            append(Int(entry.tag), bytes: 2)
            append(Int(entry.kind), bytes: 2)
            append(entry.count, bytes: 4)
            append(entry.value, bytes: 4)
        }
        append(0, bytes: 4)
        return try folder.write(data, to: name)
    }
}

/// The kinds of pixels of test pictures.
enum PixelKind: CaseIterable, Sendable {
    case color, colorWithAlpha, grey, greyWithAlpha

    var hasAlpha: Bool { self == .colorWithAlpha || self == .greyWithAlpha }
    var isGrey: Bool { self == .grey || self == .greyWithAlpha }

    /// A pixel of this kind; greys take the first channel.
    func pixel(_ red: Int, _ green: Int, _ blue: Int, alpha: Int = 255) -> [UInt8] {
        ((isGrey ? [red] : [red, green, blue]) + (hasAlpha ? [alpha] : [])).map { UInt8($0) }
    }
}
