import CVips
import CameoModel
import Foundation
import Testing

@testable import CameoImaging

/// How pictures are recognised that were not wholly decoded. No file here is one that a decoder would not read.
@Suite(.timeLimit(.minutes(5)))
struct UndecodedTests {
    private static let edge = 40
    private static let hasStarted = VipsLibrary.start()

    /// A picture of one colour with a block of another, eight pixels wide and high.
    private func picture(_ ground: [UInt8], block: [UInt8], at place: (x: Int, y: Int) = (16, 8)) throws -> VipsPicture
    {
        var bytes: [UInt8] = []
        for y in 0..<Self.edge {
            for x in 0..<Self.edge {
                let isInside = (place.x..<place.x + 8).contains(x) && (place.y..<place.y + 8).contains(y)
                bytes += isInside ? block : ground
            }
        }
        return try picture(bytes, bands: ground.count)
    }

    private func picture(_ bytes: [UInt8], bands: Int) throws -> VipsPicture {
        try #require(Self.hasStarted)
        let size = PixelSize(Self.edge, Self.edge)
        let made = VipsPicture(bytes: bytes, size: size, bands: bands, space: VIPS_INTERPRETATION_sRGB)
        guard let made, let picture = made.materialized() else { throw ImagingError.outOfMemory }
        return picture
    }

    private static let looks: [(ground: [UInt8], block: [UInt8], isEmpty: Bool)] = [
        // Zeros as YCbCr by the matrices of BT.601, BT.709, and YCgCo; as samples of a grey picture.
        ([200, 150, 100], [0, 135, 0], true), ([200, 150, 100], [0, 77, 0], true),
        ([200, 150, 100], [0, 0, 255], true), ([90, 90, 90], [0, 0, 0], true),
        // What pictures have: black beside colours, colours.
        ([200, 150, 100], [0, 0, 0], false), ([200, 150, 100], [0, 135, 1], false), ([0, 90, 90], [0, 91, 90], false),
        // Opacity.
        ([90, 80, 70, 255], [90, 80, 70, 0], true), ([90, 80, 70, 255], [90, 80, 70, 1], false),
    ]

    @Test(arguments: looks)
    func zerosAreRecognised(_ ground: [UInt8], _ block: [UInt8], _ isEmpty: Bool) throws {
        let found = try picture(ground, block: block).looksEmpty
        let without = try picture(ground, block: ground).looksEmpty
        #expect(found == isEmpty && !without)
    }

    @Test func whatDiffersIsTransparent() throws {
        let ground: [UInt8] = [200, 150, 100]
        let one = try picture(ground, block: [0, 0, 0])
        let other = try picture(ground, block: [3, 3, 3])
        guard let shown = one.withoutMissingPixels(comparedWith: other, rows: nil), let pixels = shown.materialized()
        else {
            throw ImagingError.outOfMemory
        }
        let isRight = try pixels.hasPixels(of: picture(ground + [255], block: [0, 0, 0, 0]))
        #expect(isRight)
    }

    @Test func rowsThatAreMissingAreTransparent() throws {
        let picture = try picture([7, 8, 9], block: [7, 8, 9])
        guard let shown = picture.withoutMissingPixels(comparedWith: picture, rows: 8),
            let pixels = shown.materialized()
        else { throw ImagingError.outOfMemory }
        let expected = (0..<Self.edge * Self.edge).flatMap { pixel -> [UInt8] in
            [7, 8, 9, pixel < 8 * Self.edge ? 255 : 0]
        }
        let isRight = try pixels.hasPixels(of: self.picture(expected, bands: 4))
        #expect(isRight)
    }

    /// Boxes that describe a picture of tiles, without pixels.
    private func isCovered(width: Int, height: Int, tiles: [(width: Int, height: Int)], _ kind: String = "grid") -> Bool
    {
        func box(_ name: String, _ payload: [UInt8]) -> [UInt8] { ISOBox(name, payload).bytes }
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(value >> (8 * $0) & 0xFF) }
        }
        let full = number(0, 4)
        let sizes = [(width: width, height: height)] + tiles
        let entries = sizes.indices.flatMap { index -> [UInt8] in
            let type = Array((index == 0 ? kind : "hvc1").utf8)
            return box("infe", number(2 << 24, 4) + number(index + 1, 2) + number(0, 2) + type + [0])
        }
        let targets = tiles.indices.flatMap { index -> [UInt8] in number(index + 2, 2) }
        let references = number(1, 2) + number(tiles.count, 2) + targets
        let properties = sizes.flatMap { size -> [UInt8] in
            box("ispe", full + number(size.width, 4) + number(size.height, 4))
        }
        let associations = sizes.indices.flatMap { index -> [UInt8] in number(index + 1, 2) + [1, UInt8(index + 1)] }
        let meta =
            full + box("pitm", full + number(1, 2)) + box("iinf", full + number(sizes.count, 2) + entries)
            + box("iref", full + box("dimg", references))
            + box("iprp", box("ipco", properties) + box("ipma", full + number(sizes.count, 4) + associations))
        return (box("ftyp", Array("heic".utf8)) + box("meta", meta)).withUnsafeBytes { HEIFItem(in: $0).isCovered }
    }

    @Test func tilesCoverTheirPicture() {
        let tile = (width: 512, height: 512)
        #expect(isCovered(width: 1_000, height: 600, tiles: Array(repeating: tile, count: 4)))
        #expect(isCovered(width: 1_024, height: 1_024, tiles: Array(repeating: tile, count: 4)))
        #expect(!isCovered(width: 1_025, height: 1_024, tiles: Array(repeating: tile, count: 4)))
        #expect(!isCovered(width: 512, height: 513, tiles: [tile]))
        #expect(!isCovered(width: 1_024, height: 512, tiles: [tile, (width: 511, height: 512)]))
        // Numbers that no picture has.
        #expect(!isCovered(width: 4_294_967_295, height: 4_294_967_295, tiles: [(width: 1, height: 1)]))
        #expect(!isCovered(width: 0, height: 512, tiles: [(width: 1, height: 1)]))
        #expect(!isCovered(width: 512, height: 512, tiles: [(width: 0, height: 512)]))
        // An overlay has a background.
        #expect(isCovered(width: 4_000, height: 4_000, tiles: [tile], "iovl"))
        #expect(isCovered(width: 4_000, height: 4_000, tiles: [], "hvc1"))
    }
}
