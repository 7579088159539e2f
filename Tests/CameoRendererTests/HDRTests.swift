import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// PNGs whose cICP chunk declares their colour space.
@Suite(.timeLimit(.minutes(10)))
struct HDRTests {
    /// sRGB values that are no brighter than the tone curve's knee (0.75 of white's light is 225).
    private static let colors = [
        [0, 0, 0], [128, 128, 128], [220, 220, 220], [220, 30, 20], [20, 200, 40], [30, 40, 210], [200, 150, 120],
        [10, 10, 12], [60, 120, 180],
    ]

    private func rendered(
        _ codePoints: [UInt8]?,
        _ name: String,
        _ pixels: PixelFile,
        _ rendition: Rendition = Rendition(width: 4_000, format: .png),
        place: Pictures.ChunkPlace = .beforePixels
    ) async throws -> PixelGrid {
        let folder = try TemporaryFolder()
        let plain = try await Pictures.png("hdr-\(name).png", of: pixels)
        let path = folder.path("coded.png")
        try Pictures.withCICP(codePoints ?? [], plain, to: path, place: place)
        let picture = try await render(rendition, of: codePoints == nil ? plain : path)
        return try await PixelGrid(of: picture.renditions[0])
    }

    @Test(arguments: HDRColors.Space.allCases, [(16, 1), (8, 8)])
    func colorsUpToWhiteComeOutAsTheyWentIn(_ space: HDRColors.Space, depth: (bits: Int, tolerance: Int)) async throws {
        let encoded = Self.colors.map { space.encoded($0.map(HDRColors.light)) }
        let pixels = HDRColors.squares(encoded, bits: depth.bits)
        let grid = try await rendered(space.codePoints, "\(space)-\(depth.bits)", pixels)
        #expect(grid.bands == 3)
        for (index, color) in Self.colors.enumerated() {
            let pixel = grid[index * 4 + 2, 2]
            // This coarse because PQ and HLG have only eight bits here.
            #expect(zip(pixel, color).allSatisfy { abs($0 - $1) <= depth.tolerance }, "\(color) became \(pixel)")
        }
    }

    /// The result for a grey of some cd/m², computed by hand from the tone curve: the identity up to 152, white at 240,
    /// then approaching 255.
    private static let ramp = [
        (0.0, 0), (1, 15), (20.3, 89), (101.5, 188), (150, 223), (203, 240), (406, 250), (1_000, 254), (10_000, 255),
    ]

    @Test(arguments: [1, 3])
    func highlightsRollOff(_ bands: Int) async throws {
        let encoded = Self.ramp.map { Array(repeating: HDRColors.pq($0.0), count: bands) }
        let grid = try await rendered([9, 16, 0, 1], "ramp-\(bands)", HDRColors.squares(encoded))
        let levels = Self.ramp.indices.map { grid[$0 * 4 + 2, 2] }
        #expect(grid.bands == bands)
        for (level, expected) in zip(levels, Self.ramp) {
            #expect(level.allSatisfy { abs($0 - expected.1) <= 1 }, "\(expected.0) cd/m² became \(level)")
        }
    }

    /// 203 cd/m² is 75 % in HLG; 100 % is 1000.
    @Test(arguments: [1, 3])
    func whiteOfHLGIsThatOfPQ(_ bands: Int) async throws {
        let encoded = [0.75, 1].map { Array(repeating: $0, count: bands) }
        let grid = try await rendered([9, 18, 0, 1], "hlg-\(bands)", HDRColors.squares(encoded))
        #expect(grid[2, 2].allSatisfy { abs($0 - 240) <= 1 }, "\(grid[2, 2])")
        #expect(grid[6, 2].allSatisfy { $0 == 255 }, "\(grid[6, 2])")
    }

    /// Light four times as bright as white keeps its hue; clipping would turn orange into yellow.
    @Test func brightColorsKeepTheirHue() async throws {
        let light = [4.0, 1.6, 0.4]
        let pixels = HDRColors.squares([HDRColors.Space.bt2020PQ.encoded(light)])
        let pixel = try await rendered([9, 16, 0, 1], "orange", pixels)[2, 2].map(HDRColors.light)
        #expect(pixel[0] > 0.95)
        #expect(abs(pixel[1] / pixel[0] - 0.4) < 0.01 && abs(pixel[2] / pixel[0] - 0.1) < 0.01, "\(pixel)")
    }

    @Test(arguments: [1, 3])
    func alphaIsNoLight(_ colors: Int) async throws {
        let grey = Array(repeating: HDRColors.pq(101.5), count: colors)
        let pixels = HDRColors.squares([0, 0.25, 0.5, 1].map { grey + [$0] })
        let grid = try await rendered([9, 16, 0, 1], "alpha-\(colors)", pixels)
        let found = (0..<4).map { grid[$0 * 4 + 2, 2] }
        #expect(found.map { $0[colors] } == [0, 64, 128, 255])
        #expect(found.dropFirst().allSatisfy { abs($0[0] - 188) <= 1 }, "\(found)")
    }

    /// Magenta of 10,000 cd/m² in BT.2020 has 15,900 of red and 11,000 of blue in BT.709.
    @Test func whatIsBrighterThanThePeakKeepsItsHue() async throws {
        let grid = try await rendered([9, 16, 0, 1], "beyond", HDRColors.squares([[1, 0, 1]]))
        #expect(zip(grid[2, 2], [255, 0, 217]).allSatisfy { abs($0 - $1) <= 1 }, "\(grid[2, 2])")
    }

    @Test func shrinkingKeepsTheColor() async throws {
        let pixels = HDRColors.squares(
            [HDRColors.Space.bt2020PQ.encoded([200, 60, 40].map(HDRColors.light))],
            edge: 90
        )
        let grid = try await rendered([9, 16, 0, 1], "flat", pixels, Rendition(width: 20, format: .png))
        #expect(grid.width == 20)
        #expect(grid.places.allSatisfy { zip(grid[$0.x, $0.y], [200, 60, 40]).allSatisfy { abs($0 - $1) <= 1 } })
    }

    /// Invalid contents of a cICP chunk, and places where none may be.
    @Test(arguments: [
        ([9, 16, 0], Pictures.ChunkPlace.beforePixels), ([9, 16, 0, 1, 0], .beforePixels),
        ([9, 16, 0, 0], .beforePixels),
        ([9, 16, 9, 1], .beforePixels), ([9, 9, 0, 1], .beforePixels), ([0, 16, 0, 1], .beforePixels),
        ([9, 16, 0, 1], .behindPixels),
    ])
    func whatIsNoCICPIsIgnored(_ payload: [UInt8], place: Pictures.ChunkPlace) async throws {
        let pixels = HDRColors.squares([[0.5, 0.25, 0.75]])
        let plain = try await rendered(nil, "numbers", pixels)
        let coded = try await rendered(payload, "numbers", pixels, place: place)
        #expect(coded.bytes == plain.bytes)
        let right = try await rendered([9, 16, 0, 1], "numbers", pixels)
        #expect(right.bytes != plain.bytes)
    }

    /// Here the profile declares Display P3, the chunk sRGB.
    @Test(arguments: [false, true])
    func codePointsOutrankAProfile(keepProfile: Bool) async throws {
        let folder = try TemporaryFolder()
        let p3 = try await Pictures.displayP3("png")
        try Pictures.withCICP([1, 13, 0, 1], p3, to: folder.path("coded.png"))
        var rendition = Rendition(width: 4_000, format: .png)
        rendition.encoding.keepProfile = keepProfile
        let picture = try await render(rendition, of: folder.path("coded.png"))
        let specimen = try await Specimen(picture.renditions[0])
        #expect(specimen.header["icc-profile-data"] == nil)
        #expect(try await specimen.difference(to: p3) < 0.1, "its own numbers")
    }
}
