import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// A worker that tolerates truncation renders the beginning of a picture, and reports that.
@Suite(.timeLimit(.minutes(10)))
struct ToleranceTests {
    private func tolerant(_ body: (RendererPool) async throws -> Void) async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.toleratesTruncation = true
        try await Renderers.withPool(configuration, body)
    }

    @Test(arguments: TestLength.few(["jpg", "png", "gif"], 1))
    func beginningOfAPictureIsShown(_ ending: String) async throws {
        let path = try await Pictures.truncated(ending, share: 0.6)
        try await tolerant { pool in
            let picture = try await pool.render(Rendition(width: 96, format: .png), of: path)
            #expect(picture.isTruncated)
            let specimen = try await Specimen(picture.renditions[0])
            #expect(specimen.edges == [96, 64])
            // The top is the photo's own.
            let whole = try await pool.render(Rendition(width: 96, format: .png), of: Pictures.photo(ending))
            #expect(!whole.isTruncated)
            let (top, expected) = try await (specimen.pixel(48, 8), Specimen(whole.renditions[0]).pixel(48, 8))
            #expect(zip(top, expected).allSatisfy { abs($0 - $1) <= 12 }, "\(top) \(expected)")
        }
    }

    /// What a decoder guesses, as of a JPEG, stays.
    @Test(arguments: TestLength.few(["png", "gif"], 2))
    func missingPixelsHaveTheBackground(_ ending: String) async throws {
        let path = try await Pictures.truncated(ending, share: 0.6)
        let renditions = [
            Rendition(width: 96, format: .png), Rendition(width: 96, format: .jpeg),
            Rendition(width: 96, format: .png, background: Color("#0000ff")),
        ]
        try await tolerant { pool in
            let picture = try await pool.render(renditions, of: try OpenFile(reading: path), named: path)
            let expected: [[Double]] = [[0, 0, 0, 0], [255, 255, 255], [0, 0, 255]]
            for (rendition, expected) in zip(picture.renditions, expected) {
                let pixel = try await Specimen(rendition).pixel(48, 62)
                #expect(zip(pixel, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(rendition.format): \(pixel)")
            }
        }
    }

    /// A picture that is complete but damaged inside is not truncated, and still refused.
    @Test func damageIsNotTolerated() async throws {
        var bytes = Array(try Data(contentsOf: URL(filePath: await Pictures.photo("png"))))
        for index in bytes.count / 2..<bytes.count / 2 + 64 { bytes[index] ^= 0x5A }
        let path = try await Pictures.bytes("damaged.png", bytes)
        try await tolerant { pool in
            let failure = await failure { try await pool.render(Rendition(width: 96), of: path) }
            #expect(failure?.code == .imageCorrupt)
        }
    }

    @Test(arguments: TestLength.few(["webp", "tif", "heic", "avif"], 1))
    func formatsWithoutABeginningStayRefused(_ ending: String) async throws {
        try await tolerant { pool in
            let failure = await failure {
                try await pool.render(Rendition(width: 96), of: Pictures.truncated(ending, share: 0.3))
            }
            #expect(failure?.code == .imageCorrupt)
        }
    }
}
