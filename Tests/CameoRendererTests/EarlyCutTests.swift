import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// What `cover` cuts off is not resampled if a job has one rendition only; with two it is.
@Suite(.timeLimit(.minutes(10)))
struct EarlyCutTests {
    private static let gravities: [Rendition.Gravity] = [.center, .northwest, .southeast]

    @Test(arguments: TestLength.few(1...8, 1, whole: 3))
    func cutIsThatOfTheWholePicture(_ orientation: Int) async throws {
        let jpeg = try Data(contentsOf: URL(filePath: await Pictures.photo("jpg")))
        let turned = Pictures.withEXIF(jpeg, orientation: orientation)
        let path = try await Pictures.bytes("early-\(orientation).jpg", Array(turned))
        for gravity in Self.gravities {
            for box in [(91, 120), (150, 80)] {
                try await expectSame(
                    Rendition(width: box.0, height: box.1, fit: .cover, gravity: gravity, format: .png),
                    of: path
                )
            }
        }
    }

    @Test(arguments: TestLength.few(["png", "webp", "tif", "gif", "avif"], 2))
    func inEveryFormat(_ ending: String) async throws {
        let path = try await Pictures.photo(ending)
        try await expectSame(Rendition(width: 100, height: 100, fit: .cover, format: .png), of: path)
        try await expectSame(Rendition(width: 2_000, height: 500, fit: .cover, format: .png), of: path)
    }

    @Test func transparentPicturesToo() async throws {
        let path = try await Pictures.disc("png")
        try await expectSame(Rendition(width: 60, height: 60, fit: .cover, gravity: .east, format: .png), of: path)
    }

    /// Whatever is cut off, a file without its end is damaged.
    @Test(arguments: ["jpg", "png"], [(60, 300), (300, 60)])
    func truncatedFilesAreStillNoticed(_ ending: String, box: (Int, Int)) async throws {
        let path = try await Pictures.truncated(ending, share: 0.9)
        let rendition = Rendition(width: box.0, height: box.1, fit: .cover, gravity: .northwest)
        let failure = await failure { try await render(rendition, of: path) }
        #expect(failure?.code == .imageCorrupt)
    }

    private func expectSame(_ rendition: Rendition, of path: String) async throws {
        let alone = try await rendered(rendition, of: path)
        let both = try await render(rendition, rendition, of: path).renditions[0]
        #expect(alone.edges == both.edges)
        let (one, other) = try await (Specimen(alone), Specimen(both))
        // libvips sums positions from the first column that it computes, so that one in thousands is rounded elsewhere.
        let difference = try await one.difference(to: other.path)
        #expect(difference < 0.05, "\(difference) at \(rendition)")
    }
}
