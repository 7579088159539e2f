import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// The part of the picture that is used and its orientation: `trim`, `crop`, `rotate`, `flip`, focal points, `dpr`.
///
/// The colours of the four tiles of ``Pictures/corners(orientation:)`` (30 × 20 each: red, green above; blue, white
/// below) show where each part went.
@Suite(.timeLimit(.minutes(10)))
struct RegionTests {
    enum Tile: String, Sendable { case red, green, blue, white, grey }

    private func tile(_ specimen: Specimen, _ x: Int, _ y: Int) async throws -> Tile {
        let pixel = try await specimen.pixel(x, y).map { $0 > 127 }
        return switch pixel.prefix(3) {
        case [true, false, false]: .red
        case [false, true, false]: .green
        case [false, false, true]: .blue
        case [true, true, true]: .white
        default: .grey
        }
    }

    /// The colours at the centres of the four quarters: top left and right, bottom left and right.
    private func quarters(_ rendition: EncodedRendition) async throws -> [Tile] {
        let specimen = try await Specimen(rendition)
        let (width, height) = (specimen.edges[0], specimen.edges[1])
        return try await [(1, 1), (3, 1), (1, 3), (3, 3)].asyncMap { x, y in
            try await tile(specimen, width * x / 4, height * y / 4)
        }
    }

    private func whole() -> Rendition { Rendition(width: 60, height: 60, format: .png) }

    @Test(
        arguments: [
            (Rendition.Rotation.quarter, nil, [.blue, .red, .white, .green]),
            (.half, nil, [.white, .blue, .green, .red]),
            (.threeQuarters, nil, [.green, .white, .red, .blue]),
            (.none, .horizontal, [.green, .red, .white, .blue]),
            (.none, .vertical, [.blue, .white, .red, .green]),
            (.none, .both, [.white, .blue, .green, .red]),
            // Turned first, then mirrored.
            (.quarter, .horizontal, [.red, .blue, .green, .white]),
        ] as [(Rendition.Rotation, Rendition.Flip?, [Tile])],
        TestLength.few([1, 6, 5], 1, whole: 2)
    )
    func turnsTheUprightPicture(
        _ turn: (Rendition.Rotation, Rendition.Flip?, [Tile]),
        orientation: Int
    ) async throws {
        var rendition = whole()
        (rendition.rotate, rendition.flip) = (turn.0, turn.1)
        let made = try await rendered(rendition, of: Pictures.corners(orientation: orientation))
        #expect(made.edges == (turn.0.isSideways ? [40, 60] : [60, 40]))
        #expect(try await quarters(made) == turn.2)
    }

    @Test(
        arguments: [
            (Rendition.CropArea(left: 0, top: 0, width: 30, height: 20), [30, 20], Tile.red),
            (Rendition.CropArea(left: 30, top: 20, width: 30, height: 20), [30, 20], .white),
            (Rendition.CropArea(left: 0.5, top: 0, width: 0.5, height: 0.5, unit: .fraction), [30, 20], .green),
            (Rendition.CropArea(left: 0, top: 0.5, width: 0.25, height: 0.5, unit: .fraction), [15, 20], .blue),
            (Rendition.CropArea(left: 59, top: 39, width: 1, height: 1), [1, 1], .white),
            (
                Rendition.CropArea(left: 0.999, top: 0.999, width: 0.001, height: 0.001, unit: .fraction), [1, 1],
                .white
            ),
        ] as [(Rendition.CropArea, [Int], Tile)],
        [1, 8]
    )
    func cropsTheUprightPicture(_ crop: (Rendition.CropArea, [Int], Tile), orientation: Int) async throws {
        var rendition = whole()
        rendition.crop = crop.0
        let made = try await rendered(rendition, of: Pictures.corners(orientation: orientation))
        #expect(made.edges == crop.1)
        let specimen = try await Specimen(made)
        #expect(try await tile(specimen, crop.1[0] / 2, crop.1[1] / 2) == crop.2)
    }

    /// The decoder shrinks only as far as the crop allows: 64 pixels from a sixteenth of the picture are original
    /// pixels.
    @Test func cropIsAsSharpAsTheSource() async throws {
        var rendition = Rendition(width: 240, height: 160, format: .png)
        rendition.crop = Rendition.CropArea(left: 480, top: 320, width: 240, height: 160)
        let photo = try await Pictures.photo("jpg")
        let specimen = try await Specimen(rendered(rendition, of: photo))
        let reference = try await specimen.beside("part.png") {
            try await Pictures.vips("crop", photo, $0, "480", "320", "240", "160")
        }
        #expect(try await specimen.difference(to: reference) == 0)
    }

    @Test(arguments: [
        Rendition.CropArea(left: 31, top: 0, width: 30, height: 20),
        Rendition.CropArea(left: 0, top: 0, width: 61, height: 40),
        Rendition.CropArea(left: 0, top: 40, width: 1, height: 1),
    ])
    func cropBeyondThePictureIsNamed(_ crop: Rendition.CropArea) async throws {
        var rendition = whole()
        rendition.crop = crop
        let failure = await failure {
            try await render(rendition, of: Pictures.corners(orientation: 6))
        }
        #expect(failure?.code == .imageCropOutside)
        #expect(failure?.message.contains("60 × 40") == true)
        #expect(failure?.isRetryable == false)
    }

    @Test func cropThenTurnThenBox() async throws {
        var rendition = Rendition(width: 10, height: 30, fit: .fill, format: .png)
        rendition.crop = Rendition.CropArea(left: 0, top: 0, width: 60, height: 20)
        rendition.rotate = .quarter
        let made = try await rendered(rendition, of: Pictures.corners(orientation: 1))
        #expect(made.edges == [10, 30])
        #expect(try await quarters(made) == [.red, .red, .green, .green])
    }

    @Test(
        arguments: [
            (0.0, Tile.red), (0.2, .red), (0.8, .green), (1.0, .green),
        ]
    )
    func focalPointStaysInSight(_ x: Double, expected: Tile) async throws {
        let rendition = Rendition(
            width: 20,
            height: 20,
            fit: .cover,
            gravity: .focus(Rendition.FocalPoint(x: x, y: 0)),
            format: .png
        )
        let specimen = try await Specimen(rendered(rendition, of: Pictures.corners(orientation: 1)))
        let left = try await tile(specimen, 2, 2)
        let right = try await tile(specimen, 17, 2)
        // The box is two thirds of a tile wide in the resized picture (30 × 20), so a corner shows one tile on its
        // side.
        #expect(x < 0.5 ? left == expected : right == expected)
    }

    @Test func densityMultipliesTheBox() async throws {
        var rendition = Rendition(width: 100, height: 50, fit: .cover)
        rendition.dpr = 1.5
        #expect(try await rendered(rendition, of: Pictures.photo("jpg")).edges == [150, 75])
        rendition.dpr = 0.25
        #expect(try await rendered(rendition, of: Pictures.photo("jpg")).edges == [25, 13])
    }

    /// ``Pictures/disc(_:)``: a disc of 140 pixels in the middle of 240 × 160, on transparent pixels or on white.
    @Test(arguments: ["png", "white"])
    func trimTakesBordersAway(_ kind: String) async throws {
        let path = try await kind == "png" ? Pictures.disc("png") : Pictures.discOnWhite()
        var rendition = Rendition(width: 500, height: 500, format: .png)
        rendition.trim = 20
        let made = try await rendered(rendition, of: path)
        #expect(made.edges.allSatisfy { abs($0 - 140) <= 2 }, "\(made.edges)")
        rendition.crop = Rendition.CropArea(left: 0, top: 0, width: 0.5, height: 1, unit: .fraction)
        let half = try await rendered(rendition, of: path)
        #expect(abs(half.width - 70) <= 1 && abs(half.height - 140) <= 2, "\(half.edges)")
    }

    @Test func trimmedPartFillsTheBox() async throws {
        var rendition = Rendition(width: 64, height: 64, fit: .cover, format: .png)
        rendition.trim = 20
        let specimen = try await Specimen(rendered(rendition, of: Pictures.discInStrip()))
        #expect(specimen.edges == [64, 64])
        #expect(try await specimen.pixel(32, 3)[0] > 200)
        #expect(try await specimen.pixel(32, 3)[1] < 60)
    }

    @Test func uniformPictureIsNotTrimmedAway() async throws {
        var rendition = Rendition(width: 50, height: 50)
        rendition.trim = 10
        #expect(try await rendered(rendition, of: Pictures.plain(300, 200)).edges == [50, 33])
    }

    /// The borders of a large picture are searched in a smaller one; the remaining part is decoded at its own size.
    @Test(.enabled(if: TestLength.isWhole, "--all")) func littleThatTrimmingLeavesIsAsSharpAsTheSource() async throws {
        let folder = try TemporaryFolder()
        let (noise, detail, path) = (folder.path("noise.v"), folder.path("detail.png"), folder.path("large.png"))
        try await Pictures.vips("gaussnoise", noise, "400", "400", "--mean", "110", "--sigma", "40", "--seed", "7")
        try await Pictures.vips("cast", noise, detail, "uchar")
        try await Pictures.vips("embed", detail, path, "3000", "2000", "6600", "4400", "--extend", "white")
        var rendition = Rendition(width: 400, height: 400, fit: .fill, format: .png)
        rendition.trim = 20
        let specimen = try await Specimen(rendered(rendition, of: path))
        // Made from the 248 pixels that are left at 4,096, the grain would be smoothed to about two thirds.
        let deviation = Double(try await Pictures.vips("deviate", specimen.path)) ?? 0
        #expect(deviation > 34, "\(deviation)")
    }

    @Test(arguments: [(1, 1), (2, 50), (50, 2)])
    func pictureTooSmallForBordersIsNotTrimmed(_ width: Int, height: Int) async throws {
        var rendition = Rendition(width: 50, height: 50)
        rendition.trim = 10
        #expect(try await rendered(rendition, of: Pictures.plain(width, height)).edges == [width, height])
    }

    @Test func pagesOfATIFFAreCountedFromZero() async throws {
        let path = try await Pictures.pages()
        for (page, tile) in [(0, Tile.red), (1, .green), (2, .blue)] {
            var rendition = Rendition(width: 20, format: .png)
            rendition.page = page
            let picture = try await render(rendition, of: path)
            #expect(picture.source.pages == 3)
            let specimen = try await Specimen(picture.renditions[0])
            #expect(try await self.tile(specimen, 5, 5) == tile)
        }
        var rendition = Rendition(width: 20)
        rendition.page = 3
        let failure = await failure { try await render(rendition, of: path) }
        #expect(failure?.code == .imageNoSuchPage)
        #expect(failure?.message.contains("3 pages") == true)
    }

    /// Renditions that differ in every field share one decode for each page that they name, and keep their order.
    @Test func renditionsOfSeveralPagesAndPartsKeepTheirOrder() async throws {
        let path = try await Pictures.pages()
        var renditions: [Rendition] = []
        for (index, page) in [2, 0, 1, 0].enumerated() {
            var rendition = Rendition(
                name: "r\(index)",
                width: 10 + index,
                height: 10 + index,
                fit: .fill,
                format: .png
            )
            rendition.page = page
            renditions.append(rendition)
        }
        let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        #expect(picture.renditions.map(\.width) == [10, 11, 12, 13])
        let tiles = try await picture.renditions.asyncMap { try await tile(Specimen($0), 5, 5) }
        #expect(tiles == [.blue, .red, .green, .red])
    }
}
