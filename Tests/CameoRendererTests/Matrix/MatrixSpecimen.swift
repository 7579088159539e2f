import CameoModel
import Foundation
import TestSupport

/// A thumbnail, decoded by libvips' own tool.
struct MatrixSpecimen {
    let frames: [Picture]
    /// What the file says besides its pixels, by libvips' names.
    let fields: [String: String]

    init(_ made: EncodedRendition) async throws {
        try await self.init(made.bytes, ending: made.format.fileExtension, frames: made.frames)
    }

    init(_ bytes: Data, ending: String, frames count: Int = 1) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes, to: "made.\(ending)")
        let result = folder.path("made.v")
        let whole = path + (count > 1 ? "[n=-1]" : "")
        try await Pictures.vips("copy", whole, result)
        let file = try PixelFile(contentsOf: result)
        frames = (0..<count).map { Picture(file, frame: $0, frames: count) }
        // Not those of the copy, to which newer versions of libvips add EXIF.
        let lines = try await Pictures.tool("vipsheader", ["-a", whole]).split(separator: "\n")
        let pairs = lines.compactMap { line -> (String, String)? in
            guard let colon = line.firstRange(of: ": ") else { return nil }
            return (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
        }
        fields = Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    /// Metadata that tells something about the source, or about its maker.
    var leftovers: [String] {
        let words = ["exif", "xmp", "iptc", "icc", "photoshop", "comment", "description", "orientation"]
        return fields.keys.filter { name in words.contains { name.contains($0) } }.sorted()
    }
}
