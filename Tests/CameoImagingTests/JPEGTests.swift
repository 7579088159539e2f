import CJPEG
import CWebP
import Foundation
import TestSupport
import Testing

@testable import CameoImaging

/// The files are made by libjpeg's `cjpeg`, whose options cover more than libvips' own.
@Suite(.timeLimit(.minutes(10)))
struct JPEGTests {
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

    /// Where the file is decoded at once, and not by libvips.
    @Test(arguments: [
        [], ["-sample", "1x1"], ["-sample", "2x1"], ["-sample", "1x2"], ["-grayscale"], ["-rgb"], ["-progressive"],
        ["-restart", "3"], ["-quality", "5"],
    ])
    func decodedPixelsAreThoseOfLibvips(_ options: [String]) async throws {
        let file = try await jpeg(options)
        let bands = options == ["-grayscale"] ? 1 : 3
        for divisor in [1, 2, 4, 8] {
            let decoded = decoded(file, divisor, 949 / divisor, 629 / divisor, bands)
            #expect(decoded == (try await pixels(of: file, shrink: divisor)), "\(divisor)")
        }
    }

    /// What is decoded at once must be whole: libvips then says what is wrong, or decodes it.
    @Test func damagedFilesAndOtherPixelsAreNotDecodedAtOnce() async throws {
        for options in [[], ["-progressive"]] {
            let file = try await jpeg(options)
            for count in [0, 1, 2, 3, 20, file.count / 2, file.count - 2, file.count - 1] {
                #expect(decoded(file.prefix(count), 1, 949, 629, 3) == nil, "\(count) bytes")
            }
            #expect(decoded(file, 1, 948, 629, 3) == nil)
            #expect(decoded(file, 1, 949, 630, 3) == nil)
            #expect(decoded(file, 2, 475, 314, 3) == nil)
            #expect(decoded(file, 1, 949, 629, 1) == nil)
        }
        #expect(decoded(try await jpeg(["-grayscale"]), 1, 949, 629, 3) == nil)
        let path = folder.path("inks.jpg")
        try await Pictures.vips("jpegsave", Pictures.cmyk(withProfile: .embedded), path)
        let inks = try Data(contentsOf: URL(filePath: path))
        #expect(decoded(inks, 1, 960, 640, 3) == nil)
        #expect(decoded(try await Data(contentsOf: URL(filePath: Pictures.photo("png"))), 1, 949, 629, 3) == nil)
    }

    /// libvips repairs some damage, and gives up at the hundredth.
    @Test func damageIsRepairedWithinTheLimitOfLibvips() async throws {
        var file = try await jpeg(["-restart", "1B"])
        let restarts = file.indices.dropLast().filter { file[$0] == 0xFF && (0xD0...0xD7).contains(file[$0 + 1]) }
        for (count, index) in restarts.prefix(120).enumerated() {
            // Too far from the expected number to be one that comes early or late.
            file[index + 1] = 0xD0 + (file[index + 1] - 0xD0 + 3) % 8
            if count == 9 { #expect(decoded(file, 1, 949, 629, 3) == (try await pixels(of: file, shrink: 1))) }
        }
        #expect(decoded(file, 1, 949, 629, 3) == nil)
        await #expect(throws: (any Error).self) { try await pixels(of: file, shrink: 1) }
    }

    /// Whatever the bytes are, nothing is written outside of the picture.
    @Test func damagedBytesAreDecodedWithinTheirBounds() async throws {
        for options in [["-restart", "3"], ["-progressive"], ["-sample", "4x1"]] {
            let file = try await jpeg(options)
            var random = SystemRandomNumberGenerator()
            for _ in 0..<100 {
                var damaged = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    damaged[.random(in: 0..<file.count, using: &random)] = .random(in: .min ... .max, using: &random)
                }
                _ = decoded(damaged, 4, 237, 157, 3)
            }
        }
    }

    private func decoded(_ file: Data, _ divisor: Int, _ width: Int, _ height: Int, _ bands: Int) -> Data? {
        decodedPixels(of: file, divisor, width, height, bands, by: cameo_jpeg_decode)
    }

    private func shortened(_ file: Data) -> Data? {
        // A buffer of exactly its size, so that a tool that watches memory sees every read outside.
        Array(file).withUnsafeBytes { ProgressiveJPEG(shorteningForEighth: $0).map { Data($0.bytes) } }
    }

    private func progressive(_ options: [String]) async throws -> Data { try await jpeg(["-progressive"] + options) }

    /// A picture whose edges, of 949 and 629 pixels, are no multiples of a block.
    private func jpeg(_ options: [String]) async throws -> Data {
        let (source, path) = (folder.path("odd.ppm"), folder.path("\(UUID()).jpg"))
        try await Pictures.vips("crop", Pictures.photo(), source, "3", "5", "949", "629")
        try await Pictures.tool("cjpeg", options + ["-outfile", path, source])
        return try Data(contentsOf: URL(filePath: path))
    }

    private func eighth(of file: Data) async throws -> Data { try await pixels(of: file, shrink: 8) }

    /// The pixels that libvips makes of a file when its decoder shrinks it.
    private func pixels(of file: Data, shrink: Int) async throws -> Data {
        let (path, raw) = (folder.path("\(UUID()).jpg"), folder.path("\(UUID()).raw"))
        try file.write(to: URL(filePath: path))
        try await Pictures.vips("rawsave", "\(path)[shrink=\(shrink)]", raw)
        return try Data(contentsOf: URL(filePath: raw))
    }
}

/// WebP files that are decoded at once, and not by libvips.
@Suite(.timeLimit(.minutes(10)))
struct WebPTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [[], ["--lossless"], ["--Q", "5"]], [3, 4])
    func decodedPixelsAreThoseOfLibvips(_ options: [String], _ bands: Int) async throws {
        let file = try await webP(options, bands)
        for divisor in bands == 4 ? [1] : [1, 2, 5] {
            let (path, raw) = (folder.path("in.webp"), folder.path("\(divisor).raw"))
            try file.write(to: URL(filePath: path))
            try await Pictures.vips("rawsave", "\(path)[scale=\(1 / Double(divisor))]", raw)
            let decoded = decoded(file, divisor, 960 / divisor, 640 / divisor, bands)
            #expect(try decoded == Data(contentsOf: URL(filePath: raw)), "\(divisor)")
        }
    }

    @Test func damagedFilesAndOtherSizesAreNotDecodedAtOnce() async throws {
        for options in [[], ["--lossless"]] {
            let file = try await webP(options, 3)
            for count in [0, 1, 20, file.count / 2, file.count - 9] {
                #expect(decoded(file.prefix(count), 1, 960, 640, 3) == nil, "\(count) bytes")
            }
            for (width, height) in [(959, 640), (961, 640), (960, 641), (480, 320)] {
                #expect(decoded(file, 1, width, height, 3) == nil)
            }
            #expect(decoded(file, 7, 960 / 7, 640 / 7, 3) == nil)
            var random = SystemRandomNumberGenerator()
            for _ in 0..<100 {
                var damaged = file
                damaged[.random(in: 0..<file.count, using: &random)] = .random(in: .min ... .max, using: &random)
                _ = decoded(damaged, 2, 480, 320, 3)
            }
        }
        let (roll, path) = (folder.path("roll.gif"), folder.path("animated.webp"))
        try await Pictures.vips("gifsave", Pictures.photo(), roll, "--page-height", "320")
        try await Pictures.vips("webpsave", "\(roll)[n=-1]", path)
        let animation = try Data(contentsOf: URL(filePath: path))
        #expect(decoded(animation, 1, 960, 320, 3) == nil && decoded(animation, 1, 960, 320, 4) == nil)
    }

    private func webP(_ options: [String], _ bands: Int) async throws -> Data {
        let (source, path) = (folder.path("\(UUID()).v"), folder.path("\(UUID()).webp"))
        if bands == 4 {
            try await Pictures.vips("bandjoin_const", Pictures.photo(), source, "100")
        } else {
            try await Pictures.vips("copy", Pictures.photo(), source)
        }
        try await Pictures.tool("vips", ["webpsave", source, path] + options)
        return try Data(contentsOf: URL(filePath: path))
    }

    private func decoded(_ file: Data, _ divisor: Int, _ width: Int, _ height: Int, _ bands: Int) -> Data? {
        decodedPixels(of: file, divisor, width, height, bands, by: cameo_webp_decode)
    }
}

private typealias Decoder = (
    UnsafePointer<UInt8>?, Int, Int32, UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
) -> Int32

/// Nil if the file is refused. Around the pixels is what may not be written to.
private func decodedPixels(
    of file: Data,
    _ divisor: Int,
    _ width: Int,
    _ height: Int,
    _ bands: Int,
    by decode: Decoder
) -> Data? {
    let (count, fence) = (width * height * bands, 64)
    var memory = [UInt8](repeating: 0xA5, count: count + 2 * fence)
    let result = memory.withUnsafeMutableBufferPointer { memory in
        Array(file).withUnsafeBufferPointer { file in
            let pixels = memory.baseAddress.map { $0 + fence }
            return decode(
                file.baseAddress,
                file.count,
                Int32(divisor),
                pixels,
                Int32(width),
                Int32(height),
                Int32(bands)
            )
        }
    }
    #expect((memory.prefix(fence) + memory.suffix(fence)).allSatisfy { $0 == 0xA5 })
    return result == 0 ? Data(memory.dropFirst(fence).dropLast(fence)) : nil
}
