import CameoModel
import Testing

@testable import CameoImaging

@Suite(.timeLimit(.minutes(10)))
struct SmallPictureTests {
    @Test(arguments: [
        (PixelSize(1, 1), PixelSize(32, 32)), (PixelSize(32, 24), PixelSize(32, 24)),
        (PixelSize(640, 480), PixelSize(32, 24)), (PixelSize(1_000, 10), PixelSize(256, 8)),
        (PixelSize(33, 2_000), PixelSize(8, 256)), (PixelSize(5, 3), PixelSize(30, 18)),
    ])
    func sizesKeepTheShape(_ whole: PixelSize, expected: PixelSize) {
        #expect(SmallPicture(flat: [1, 2, 3, 255], whole).size == expected)
    }

    @Test func hiddenColorsWeighNothing() {
        // Left: red, opaque. Right: green, invisible. One cell.
        let pixels: [UInt8] = (0..<64 * 64).flatMap { ($0 % 2 == 0 ? [250, 0, 0, 255] : [0, 250, 0, 0]) as [UInt8] }
        let picture = SmallPicture(averaging: pixels.span, of: PixelSize(64, 64), bands: 4)
        #expect(Array(picture.rgba.prefix(4)) == [250, 0, 0, 128])
    }

    @Test(arguments: [
        (1, [100, 100, 100, 255]), (2, [100, 100, 100, 50]), (3, [100, 50, 25, 255]), (4, [100, 50, 25, 200]),
    ])
    func everyKindOfPixelIsRead(_ bands: Int, expected: [UInt8]) {
        let pixel: [UInt8] = [[100], [100, 50], [100, 50, 25], [100, 50, 25, 200]][bands - 1]
        let pixels = (0..<40 * 50).flatMap { _ in pixel }
        let picture = SmallPicture(averaging: pixels.span, of: PixelSize(40, 50), bands: bands)
        #expect(picture.size == PixelSize(26, 32))
        #expect(Array(picture.rgba.suffix(4)) == expected)
    }

    @Test func cellsCoverEveryPixelOnce() {
        // A ramp of 100 columns: means of cells that neither overlap nor leave gaps.
        let pixels = (0..<100 * 100).map { UInt8($0 % 100) }
        let picture = SmallPicture(averaging: pixels.span, of: PixelSize(100, 100), bands: 1)
        let reds = (0..<32).map { Int(picture.rgba[$0 * 4]) }
        let expected = (0..<32).map { column in
            let cell = column * 100 / 32..<(column + 1) * 100 / 32
            return Int((Double(cell.reduce(0, +)) / Double(cell.count)).rounded())
        }
        #expect(reds == expected)
    }

    @Test func dominantColorIsTheMeanOfTheFullestBox() {
        var rgba: [UInt8] = []
        for index in 0..<64 * 4 {
            // Four tenths are two similar blues; the rest is scattered greys and an invisible majority.
            switch index % 10 {
            case 0, 1: rgba += [16, 32, 200, 255]
            case 2, 3: rgba += [18, 34, 204, 255]
            case 4: rgba += [UInt8(index % 256), 90, 90, 255]
            default: rgba += [255, 0, 0, 0]
            }
        }
        let picture = SmallPicture(size: PixelSize(16, 16), rgba: rgba)
        #expect(DominantColor.color(of: picture) == Color("#1121caff"))
    }

    @Test func nothingVisibleIsWhite() {
        #expect(DominantColor.color(of: SmallPicture(flat: [9, 9, 9, 0], PixelSize(8, 8))) == .white)
    }
}
