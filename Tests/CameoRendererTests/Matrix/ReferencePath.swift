import CameoModel
import TestSupport

/// The slow way to a thumbnail, a command of libvips a step: everything decoded at full size, colours converted there,
/// turned, and one Lanczos resize of premultiplied pixels to the exact size. Nothing of Cameo's own takes part.
actor ReferencePath {
    static let shared = ReferencePath()

    private struct Key: Hashable {
        let fixture: Fixture
        let frame: Int
        let size: [Int]
    }

    private var full: [Key: Task<String, any Error>] = [:]
    private var resized: [Key: Task<Picture, any Error>] = [:]
    private let folder = Result { try TemporaryFolder() }
    private var names = 0

    /// A frame of a fixture at a size.
    func picture(of fixture: Fixture, frame: Int = 0, width: Int, height: Int) async throws -> Picture {
        let key = Key(fixture: fixture, frame: frame, size: [width, height])
        if let task = resized[key] { return try await task.value }
        let fullKey = Key(fixture: fixture, frame: frame, size: [])
        let names = try (0..<5).map { _ in try newName() }
        let decoded = full[fullKey] ?? Task { try await Self.decoded(fixture, frame, Array(names.dropFirst())) }
        full[fullKey] = decoded
        let task = Task {
            try await Self.resized(
                decoded.value,
                width,
                height,
                hasAlpha: fixture.scene.transparency != .none,
                names[0]
            )
        }
        resized[key] = task
        return try await task.value
    }

    private func newName() throws -> String {
        names += 1
        return try folder.get().path("\(names).v")
    }

    @concurrent
    private static func decoded(_ fixture: Fixture, _ frame: Int, _ names: [String]) async throws -> String {
        var path = try await fixture.file()
        if fixture.scene.frames > 1, fixture.ending != "v" { path += "[page=\(frame)]" }
        if fixture.ending == "svg" { path += "[scale=4]" }
        switch (fixture.scene.space, fixture.hasProfile) {
        case (.cmyk, let hasProfile):
            // Without a profile: libvips' own.
            let input = hasProfile ? ["--embedded"] : ["--input-profile", "cmyk"]
            try await Pictures.tool(
                "vips",
                ["icc_transform", path, names[0], "srgb", "--intent", "relative"] + input
            )
        case (_, true) where fixture.scene.depth == .sixteen:
            // Down to 8 bits afterwards: icc_transform of libvips 8.14 clips a 16-bit alpha to 255 instead of scaling it.
            try await Pictures.vips("icc_transform", path, names[3], "srgb", "--embedded", "--depth", "16")
            try await Pictures.vips("colourspace", names[3], names[0], "srgb")
        case (_, true): try await Pictures.vips("icc_transform", path, names[0], "srgb", "--embedded")
        case (_, false): try await Pictures.vips("colourspace", path, names[0], "srgb")
        }
        var last = names[0]
        if fixture.orientation != 1, !fixture.isHEIF {
            try await Pictures.vips("autorot", last, names[1])
            last = names[1]
        }
        if fixture.scene.transparency != .none {
            try await Pictures.vips("premultiply", last, names[2])
            last = names[2]
        }
        return last
    }

    @concurrent
    private static func resized(
        _ path: String,
        _ width: Int,
        _ height: Int,
        hasAlpha: Bool,
        _ result: String
    ) async throws -> Picture {
        let size = try PixelFile(contentsOf: path)
        let (x, y) = (Double(width) / Double(size.width), Double(height) / Double(size.height))
        try await Pictures.vips("resize", path, result, "\(x)", "--vscale", "\(y)", "--kernel", "lanczos3")
        return Picture(try PixelFile(contentsOf: result), isPremultiplied: hasAlpha)
    }
}
