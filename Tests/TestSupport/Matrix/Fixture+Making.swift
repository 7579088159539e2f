internal import Foundation

extension Fixture {
    /// The path of the file, made when first asked for.
    package func file() async throws -> String {
        try await Pictures.file(shortName) { path in
            switch ending {
            case "v": try scene.pixels(orientation: orientation, fields: fields).write(to: path)
            case "svg": try drawing.write(toFile: path, atomically: true, encoding: .utf8)
            default:
                let words = saver.split(separator: " ").map(String.init)
                try await Pictures.tool("vips", [words[0], try await source(), path] + words.dropFirst())
                try finish(path)
            }
        }
    }

    /// File names have a limit.
    private var shortName: String {
        let hash = name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "fixture-\(String(hash, radix: 36)).\(ending)"
    }

    /// The scene with the metadata that libvips' savers write. HEIF gets an EXIF orientation too, which readers must
    /// ignore: its container says how it is turned.
    private func source() async throws -> String {
        let pixels = Fixture("v", "copy", of: scene, orientation: orientation, hasProfile: hasProfile)
        let path = try await pixels.file()
        guard scene.space == .cmyk else { return path }
        return try await Pictures.file("cmyk-\(pixels.shortName)") {
            try await Pictures.vips("icc_transform", path, $0, "cmyk", "--input-profile", "srgb")
        }
    }

    package var isHEIF: Bool { ending == "heic" || ending == "avif" }

    private var fields: [PixelFile.Field] {
        let xmp =
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
            + "\(Self.secret)-XMP</rdf:RDF></x:xmpmeta>"
        var fields = [
            text("exif-ifd0-Artist", "\(Self.secret)-ARTIST (\(Self.secret)-ARTIST, ASCII, 14 components, 14 bytes)"),
            text("exif-ifd3-GPSLatitude", "48/1 12/1 34/1 (48, 12, 34, Rational, 3 components, 24 bytes)"),
            text("image-description", "\(Self.secret)-DESCRIPTION"),
            text("png-comment-0-Comment", "\(Self.secret)-COMMENT"),
            blob("xmp-data", Data(xmp.utf8)),
            blob("iptc-data", Data("\(Self.secret)-IPTC-".utf8)),
        ]
        if orientation != 1 { fields.append(PixelFile.Field("gint", "orientation", "\(orientation)")) }
        if hasProfile, let profile = scene.space.profile { fields.append(blob("icc-profile-data", profile)) }
        if scene.frames > 1 {
            let delays = (0..<scene.frames).map { "\(Self.delays[$0 % Self.delays.count])" }.joined(separator: " ")
            fields.append(PixelFile.Field("gint", "page-height", "\(Scene.height)"))
            fields.append(PixelFile.Field("VipsArrayInt", "delay", delays))
            fields.append(PixelFile.Field("gint", "loop", "\(Self.loop)"))
        }
        return fields
    }

    private func text(_ name: String, _ value: String) -> PixelFile.Field {
        PixelFile.Field("VipsRefString", name, value)
    }

    private func blob(_ name: String, _ bytes: Data) -> PixelFile.Field {
        PixelFile.Field("VipsBlob", name, bytes.base64EncodedString())
    }

    /// What libvips 8.14's savers do not write.
    private func finish(_ path: String) throws {
        let url = URL(filePath: path)
        let bytes = Array(try Data(contentsOf: url))
        let finished: [UInt8] =
            switch ending {
            case "png": MetadataSurgery.addingEXIF(toPNG: bytes, orientation: orientation)
            case "gif": MetadataSurgery.addingComment(toGIF: bytes)
            case "heic", "avif": try MetadataSurgery.turning(heif: bytes, orientation: orientation)
            default: bytes
            }
        try Data(finished).write(to: url)
    }

    /// The scene's shapes, as a drawing: corners, a ring between them, and what no thumbnail may keep.
    private var drawing: String {
        let ends = [(0, 0), (1, 0), (0, 1), (1, 1)]
        let corners = zip(Scene.cornerColors, ends).map { color, end in
            let numbers = color.map { "\(Int(($0 * 255).rounded()))" }.joined(separator: ",")
            let (x, y) = (end.0 * (Scene.width - Scene.corner), end.1 * (Scene.height - Scene.corner))
            return "<rect x='\(x)' y='\(y)' width='\(Scene.corner)' height='\(Scene.corner)' fill='rgb(\(numbers))'/>"
        }
        let ground = "<rect width='100%' height='100%' fill='#8090a0'/>"
        let disc = "<circle cx='120' cy='80' r='60' fill='#ffffff'/>"
        let shapes =
            scene.subject == .disc ? disc : (scene.transparency == .none ? ground : "") + corners.joined() + disc
        return "<svg xmlns='http://www.w3.org/2000/svg' width='\(Scene.width)' height='\(Scene.height)'>"
            + "<!-- \(Self.secret) --><title>\(Self.secret)</title><metadata>\(Self.secret)</metadata>\(shapes)</svg>"
    }
}
