import Foundation
import TestSupport
import Testing

@testable import CameoImaging

/// The files are made by libjpeg's `cjpeg`, whose options cover more than libvips' own.
@Suite(.timeLimit(.minutes(10)))
struct ProgressiveJPEGTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        arguments: TestLength.few(
            [
                ["-sample", "1x1"], ["-sample", "2x1"], ["-sample", "1x2"], ["-sample", "2x2"], ["-sample", "4x1"],
                ["-sample", "3x2"], ["-sample", "1x1,2x2,1x2"], ["-grayscale"], ["-rgb"], ["-quality", "100"],
            ],
            whole: 5
        ),
        [[], ["-restart", "3"]]
    )
    func eighthHasTheSamePixels(_ options: [String], _ restarts: [String]) async throws {
        let file = try await progressive(options + restarts)
        let short = try #require(shortened(file))
        #expect(short.count < file.count)
        #expect(try await eighth(of: short) == eighth(of: file))
    }

    @Test func fourInksToo() async throws {
        let path = folder.path("inks.jpg")
        try await Pictures.vips("jpegsave", Pictures.cmyk(withProfile: .embedded), path, "--interlace")
        let file = try Data(contentsOf: URL(filePath: path))
        let short = try #require(shortened(file))
        #expect(try await eighth(of: short) == eighth(of: file))
    }

    /// libjpeg smooths a picture whose details are not all there, and would not smooth it without them.
    @Test func coarseDetailsAreKept() async throws {
        let scans = folder.path("scans.txt")
        try "0 1 2: 0-0, 0, 0; 0: 1-63, 0, 1; 1: 1-63, 0, 0; 2: 1-63, 0, 0;"
            .write(toFile: scans, atomically: true, encoding: .utf8)
        #expect(shortened(try await progressive(["-sample", "1x1", "-scans", scans])) == nil)
    }

    @Test func otherFilesAreLeftAlone() async throws {
        let baseline = try await Data(contentsOf: URL(filePath: Pictures.photo("jpg")))
        #expect(shortened(baseline) == nil)
        let png = try await Data(contentsOf: URL(filePath: Pictures.photo("png")))
        #expect(shortened(png) == nil)
        #expect(shortened(Data([0xFF, 0xD8, 0xFF, 0xC2])) == nil)
        #expect(shortened(Data()) == nil)
    }

    @Test func truncatedFilesAreLeftAlone() async throws {
        let file = try await progressive([])
        for count in stride(from: 0, to: file.count - 1, by: 97) { #expect(shortened(file.prefix(count)) == nil) }
    }

    /// Whatever the bytes are, nothing is read outside of them, and what comes out is framed as a JPEG.
    @Test func damagedBytesAreReadWithinTheirBounds() async throws {
        let file = try await progressive(["-restart", "3"])
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: 0..<file.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            guard let short = shortened(damaged) else { continue }
            #expect(short.starts(with: [0xFF, 0xD8]))
            #expect(short.suffix(2) == Data([0xFF, 0xD9]))
        }
    }

    private func shortened(_ file: Data) -> Data? {
        // A buffer of exactly its size, so that a tool that watches memory sees every read outside.
        Array(file).withUnsafeBytes { ProgressiveJPEG(shorteningForEighth: $0).map { Data($0.bytes) } }
    }

    /// A picture whose edges are no multiples of a block.
    private func progressive(_ options: [String]) async throws -> Data {
        let (source, path) = (folder.path("odd.ppm"), folder.path("\(UUID()).jpg"))
        try await Pictures.vips("crop", Pictures.photo(), source, "3", "5", "949", "629")
        try await Pictures.tool("cjpeg", ["-progressive"] + options + ["-outfile", path, source])
        return try Data(contentsOf: URL(filePath: path))
    }

    /// The pixels that libvips makes of a file when its decoder shrinks by 8.
    private func eighth(of file: Data) async throws -> Data {
        let (path, raw) = (folder.path("\(UUID()).jpg"), folder.path("\(UUID()).raw"))
        try file.write(to: URL(filePath: path))
        try await Pictures.vips("rawsave", "\(path)[shrink=8]", raw)
        return try Data(contentsOf: URL(filePath: raw))
    }
}
