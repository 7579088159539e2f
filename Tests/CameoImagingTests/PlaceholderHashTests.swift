import CameoModel
import Foundation
import Testing

@testable import CameoImaging

/// Vectors from transcriptions of the published algorithms (ThumbHash's JavaScript, BlurHash's `C/encode.c` in double
/// precision) that share no code with Cameo's, for the pixels of ``SmallPicture/pattern(_:_:hasAlpha:)``.
@Suite(.timeLimit(.minutes(10)))
struct PlaceholderHashTests {
    @Test(arguments: [
        (32, 24, false, "HggGDYRSYldSZ2cwVlVmY8YK9Ldf"), (20, 32, false, "HggGDAQkNnUHZkF2NXauULT3mw=="),
        (32, 32, true, "HwiCDQIHY2RUeGEHpvVI2/yOaAdnV4d1dg=="), (32, 3, false, "GEgKMYxAdHN0d1inkm/6tGc="),
        (9, 32, true, "HRiCCQQHMpIaBqT9Ynf2llJndWcIR4c="),
    ])
    func thumbHashIsTheReferences(_ width: Int, _ height: Int, hasAlpha: Bool, expected: String) {
        let hash = ThumbHash.bytes(of: .pattern(width, height, hasAlpha: hasAlpha))
        #expect(Data(hash).base64EncodedString() == expected)
    }

    @Test(arguments: [
        (32, 24, "L8HLVmvRN.vVrCQdwaCE4XH[FqET"), (20, 32, "T9G[+v-ND~z4Q:R*4VZ%7;qy6vVh"),
        (32, 3, "LfHA6nMPF.WT}pRVORWUr-W;o5Wr"),
    ])
    func blurHashIsTheReferences(_ width: Int, _ height: Int, expected: String) {
        #expect(BlurHash.text(of: .pattern(width, height, hasAlpha: false)) == expected)
    }

    @Test(arguments: [[200, 40, 10, 255], [0, 0, 0, 255], [255, 255, 255, 255], [17, 17, 17, 255]])
    func flatPicturesDecodeToTheirColor(_ color: [UInt8]) {
        for size in [PixelSize(1, 1), PixelSize(640, 2), PixelSize(3, 100), PixelSize(64, 64)] {
            let picture = SmallPicture(flat: color, size)
            let mean = ThumbHashReader(ThumbHash.bytes(of: picture)).mean
            #expect(zip(mean, color).allSatisfy { abs($0 - Double($1)) < 7 }, "\(size): \(mean)")
            #expect(ThumbHashReader(ThumbHash.bytes(of: picture)).scales.allSatisfy { $0 == 0 }, "\(size): not flat")
            let text = BlurHash.text(of: picture)
            #expect(BlurHashReader(text).mean == color.prefix(3).map(Int.init), "\(size): \(text)")
            // BlurHash's waves do not quite cancel over a plain picture: they leave 2 divided by its pixels per edge.
            if min(size.width, size.height) * 2 > max(size.width, size.height) {
                #expect(BlurHashReader(text).largestAmplitude < 0.08, "\(size): \(text)")
            }
        }
    }

    @Test func shapeIsKept() {
        #expect(
            ThumbHashReader(ThumbHash.bytes(of: SmallPicture(flat: [9, 9, 9, 255], PixelSize(700, 300)))).edges == [
                7, 3,
            ]
        )
        #expect(
            ThumbHashReader(ThumbHash.bytes(of: SmallPicture(flat: [9, 9, 9, 255], PixelSize(300, 700)))).edges == [
                3, 7,
            ]
        )
        #expect(BlurHash.text(of: SmallPicture(flat: [9, 9, 9, 255], PixelSize(700, 300))).first == "L")
        #expect(BlurHash.text(of: SmallPicture(flat: [9, 9, 9, 255], PixelSize(300, 700))).first == "T")
    }

    @Test func transparencyIsWhiteInBlurHashAndAlphaInThumbHash() {
        let picture = SmallPicture(flat: [0, 0, 0, 0], PixelSize(40, 40))
        #expect(BlurHashReader(BlurHash.text(of: picture)).mean == [255, 255, 255])
        #expect(ThumbHashReader(ThumbHash.bytes(of: picture)).alpha == 0)
        #expect(ThumbHashReader(ThumbHash.bytes(of: SmallPicture(flat: [0, 0, 0, 255], PixelSize(40, 40)))).alpha == 1)
    }
}

extension SmallPicture {
    /// Every channel is another polynomial of the position, modulo 256.
    static func pattern(_ width: Int, _ height: Int, hasAlpha: Bool) -> SmallPicture {
        var rgba: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let colors = [x * x * 7 + y * 13, x * 5 + y * y * 3, x * y * 11 + 40]
                rgba += (colors + [hasAlpha ? x * 17 + y * 29 : 255]).map { UInt8($0 % 256) }
            }
        }
        return SmallPicture(size: PixelSize(width, height), rgba: rgba)
    }

    init(flat color: [UInt8], _ size: PixelSize) {
        let pixels = (0..<size.width * size.height).flatMap { _ in color }
        self.init(averaging: pixels.span, of: size, bands: 4)
    }
}
