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
        try await Pictures.vips("copy", path + (count > 1 ? "[n=-1]" : ""), result)
        let file = try PixelFile(contentsOf: result)
        frames = (0..<count).map { Picture(file, frame: $0, frames: count) }
        fields = Dictionary(file.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    /// Metadata that tells something about the source, or about its maker.
    var leftovers: [String] {
        let words = ["exif", "xmp", "iptc", "icc", "photoshop", "comment", "description", "orientation"]
        return fields.keys.filter { name in words.contains { name.contains($0) } }.sorted()
    }
}
