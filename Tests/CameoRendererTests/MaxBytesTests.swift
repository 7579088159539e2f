import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// `maxBytes`: the best quality whose file fits.
@Suite(.timeLimit(.minutes(10)))
struct MaxBytesTests {
    private func rendition(
        _ format: Rendition.Format,
        quality: Int? = nil,
        maxBytes: Int? = nil,
        palette: Bool = false
    ) -> Rendition {
        var rendition = Rendition(width: 320, height: 320, format: format, quality: quality)
        rendition.encoding.maxBytes = maxBytes
        rendition.encoding.palette = palette
        return rendition
    }

    @Test(arguments: [Rendition.Format.jpeg, .webp, .avif])
    func theHighestQualityThatFitsIsTaken(_ format: Rendition.Format) async throws {
        let photo = try await Pictures.photo()
        // Exactly the size at quality 37, which must be found, or a neighbour that the last of seven attempts missed.
        let wanted = try await rendered(rendition(format, quality: 37), of: photo).bytes
        let made = try await rendered(rendition(format, maxBytes: wanted.count), of: photo).bytes
        #expect(made.count <= wanted.count)
        let lower = try await rendered(rendition(format, quality: 36), of: photo).bytes
        #expect(made.count >= lower.count)
    }

    /// Graphics that are smaller without loss at first still become lossy if only that fits.
    @Test func autoFindsAQualityWhereLosslessIsTooLarge() async throws {
        let folder = try TemporaryFolder()
        let (noise, path) = (folder.path("noise.v"), folder.path("three-colors.png"))
        try await Pictures.vips("gaussnoise", noise, "200", "200", "--mean", "1", "--sigma", "0.6", "--seed", "3")
        try await Pictures.vips("linear", noise, folder.path("grey.v"), "1", "0", "--uchar")
        try await Pictures.vips("linear", folder.path("grey.v"), path, "80", "0", "--uchar")
        let free = try await rendered(rendition(.auto), of: path).bytes
        let limit = try await rendered(rendition(.webp, quality: 1), of: path).bytes.count
        try #require(limit < free.count, "the fixture must be smaller without loss at first")
        let made = try await rendered(rendition(.auto, maxBytes: limit), of: path).bytes
        #expect(made.count <= limit)
    }

    @Test(arguments: [Rendition.Format.jpeg, .webp, .avif])
    func whatFitsAnywayIsLeftAlone(_ format: Rendition.Format) async throws {
        let photo = try await Pictures.photo()
        let free = try await rendered(rendition(format), of: photo).bytes
        #expect(try await rendered(rendition(format, maxBytes: free.count), of: photo).bytes == free)
        // The requested quality is not exceeded, however much room there is.
        let asked = try await rendered(rendition(format, quality: 30), of: photo).bytes
        #expect(try await rendered(rendition(format, quality: 30, maxBytes: 1 << 20), of: photo).bytes == asked)
    }

    @Test(.enabled(if: TestLength.isWhole, "--all")) func paletteGivesColorsUp() async throws {
        let photo = try await Pictures.photo()
        let free = try await rendered(rendition(.png, palette: true), of: photo).bytes
        let made = try await rendered(rendition(.png, maxBytes: free.count * 3 / 4, palette: true), of: photo)
        #expect(made.bytes.count <= free.count * 3 / 4)
        #expect(made.bytes[25] == 3)
    }

    @Test(arguments: [Rendition.Format.jpeg, .webp, .avif])
    func nothingFits(_ format: Rendition.Format) async throws {
        let photo = try await Pictures.photo()
        let lowest = try await rendered(rendition(format, quality: 1), of: photo).bytes.count
        let failure = await failure {
            try await render(rendition(format, maxBytes: 128), of: photo)
        }
        #expect(failure?.code == .renderTooManyBytes)
        #expect(failure?.message.contains("128 bytes") == true)
        #expect(failure?.message.contains("\(lowest)") == true)
        // A file of exactly the limit is allowed.
        #expect(try await rendered(rendition(format, maxBytes: lowest), of: photo).bytes.count == lowest)
    }

    /// `source` may turn out to be a format that has no quality to lower.
    @Test(arguments: ["png", "gif"])
    func whatHasNoQualityFitsOrFails(_ ending: String) async throws {
        let photo = try await Pictures.photo(ending)
        let free = try await rendered(rendition(.source), of: photo).bytes.count
        #expect(try await rendered(rendition(.source, maxBytes: free), of: photo).bytes.count == free)
        let failure = await failure {
            try await render(rendition(.source, maxBytes: free - 1), of: photo)
        }
        #expect(failure?.code == .renderTooManyBytes)
        #expect(failure?.message.contains("\(free)") == true)
    }

    @Test func metadataCountsToo() async throws {
        let path = try await Pictures.withMetadata()
        var rendition = rendition(.jpeg)
        rendition.encoding.keep = [.exif, .icc]
        let free = try await rendered(rendition, of: path).bytes.count
        rendition.encoding.maxBytes = free - 1
        #expect(try await rendered(rendition, of: path).bytes.count < free)
    }
}
