import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Every filter on every kind of pixel, at the picture's own size.
@Suite(.timeLimit(.minutes(10)))
struct LookTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rendered(
        _ grid: PixelGrid,
        dpr: Double = 1,
        format: Rendition.Format = .png,
        _ change: (inout Rendition.Look) -> Void
    ) async throws -> PixelGrid {
        let path = try grid.write(to: "source-\(UUID().uuidString).tif", in: folder)
        var rendition = Rendition(
            width: Int((Double(grid.width) / dpr).rounded()),
            height: Int((Double(grid.height) / dpr).rounded()),
            fit: .fill,
            format: format
        )
        rendition.dpr = dpr
        change(&rendition.look)
        return try await PixelGrid(of: render(rendition, of: path).renditions[0])
    }

    /// Stripes of colours whose right half is translucent where there is alpha.
    private func swatches(_ kind: PixelKind) -> PixelGrid {
        let colors = [[200, 100, 50], [10, 240, 130], [255, 255, 255], [0, 0, 0], [90, 90, 90], [30, 60, 220]]
        return PixelGrid(24, 12) { x, y in
            let color = colors[y / 2]
            return kind.pixel(color[0], color[1], color[2], alpha: x < 12 ? 255 : 100)
        }
    }

    /// A plain disc of radius 20 in the middle of 64 × 64 invisible black pixels.
    private func disc(_ kind: PixelKind, _ color: [Int]) -> PixelGrid {
        PixelGrid(64, 64) { x, y in
            let isInside = (x - 32) * (x - 32) + (y - 32) * (y - 32) < 400
            return isInside ? kind.pixel(color[0], color[1], color[2]) : kind.pixel(0, 0, 0, alpha: 0)
        }
    }

    /// Brightness, contrast and saturation.
    struct Factors: Sendable, CustomStringConvertible {
        var brightness = 1.0
        var contrast = 1.0
        var saturation = 1.0

        var description: String { "\(brightness)/\(contrast)/\(saturation)" }

        /// Computed as the specification says, one function after the other, each clipped.
        func applied(to pixel: [Int]) -> [Int] {
            var values = pixel.map { min(1, Double($0) / 255 * brightness) }
            values = values.map { min(1, max(0, $0 * contrast + 0.5 - 0.5 * contrast)) }
            if values.count == 3 {
                let luminance = 0.213 * values[0] + 0.715 * values[1] + 0.072 * values[2]
                values = values.map { luminance + saturation * ($0 - luminance) }
            }
            return values.map { Int((min(1, max(0, $0)) * 255).rounded()) }
        }
    }

    @Test(
        arguments: PixelKind.allCases,
        [
            Factors(brightness: 1.5), Factors(brightness: 0), Factors(contrast: 2), Factors(contrast: 0.3),
            Factors(saturation: 0), Factors(saturation: 3),
            Factors(brightness: 0.8, contrast: 1.4, saturation: 1.7), Factors(brightness: 2, contrast: 0.5),
        ]
    )
    func factorsAreThoseOfCSS(_ kind: PixelKind, _ factors: Factors) async throws {
        let source = swatches(kind)
        let result = try await rendered(source) {
            ($0.brightness, $0.contrast, $0.saturation) = (factors.brightness, factors.contrast, factors.saturation)
        }
        #expect(result.bands == source.bands)
        for (x, y) in source.places {
            let colors = kind.isGrey ? 1 : 3
            let expected = factors.applied(to: Array(source[x, y].prefix(colors)))
            let got = result[x, y]
            #expect(zip(got, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(x) \(y): \(got) \(expected)")
            #expect(got.dropFirst(colors) == source[x, y].dropFirst(colors), "alpha changed")
        }
    }

    @Test(arguments: PixelKind.allCases)
    func grayscaleKeepsLuminance(_ kind: PixelKind) async throws {
        let source = swatches(kind)
        let result = try await rendered(source) { $0.grayscale = true }
        #expect(result.bands == (kind.hasAlpha ? 2 : 1))
        for (x, y) in source.places {
            let pixel = source[x, y]
            let expected = kind.isGrey ? Double(pixel[0]) : Self.luminance(pixel)
            #expect(abs(Double(result[x, y][0]) - expected) <= 3, "\(pixel): \(result[x, y]), not \(expected)")
            if kind.hasAlpha { #expect(result[x, y].last == pixel.last) }
        }
    }

    /// Of light, by the weights of Rec. 709, encoded again.
    private static func luminance(_ pixel: [Int]) -> Double {
        let light = pixel.prefix(3).map { byte -> Double in
            let value = Double(byte) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        let sum = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
        return 255 * (sum <= 0.0031308 ? sum * 12.92 : 1.055 * pow(sum, 1 / 2.4) - 0.055)
    }

    @Test(arguments: PixelKind.allCases)
    func tintTakesTheHueAndKeepsTheLight(_ kind: PixelKind) async throws {
        let source = swatches(kind)
        let result = try await rendered(source) { $0.tint = Color("#ff8000") }
        #expect(result.bands == (kind.hasAlpha ? 4 : 3))
        for (x, y) in source.places {
            let (pixel, tinted) = (source[x, y], result[x, y])
            if kind.hasAlpha { #expect(tinted[3] == pixel[pixel.count - 1]) }
            let before = kind.isGrey ? Double(pixel[0]) : Self.luminance(pixel)
            // Bright oranges of full strength lie outside sRGB and are clipped.
            #expect(abs(Self.luminance(tinted) - before) < 14, "\(pixel): \(tinted)")
            guard before > 20, before < 235 else {
                #expect(tinted[0] - tinted[2] <= 25, "\(pixel): \(tinted)")
                continue
            }
            #expect(tinted[0] > tinted[1] && tinted[1] > tinted[2], "\(pixel): \(tinted)")
        }
    }

    @Test func translucentTintGoesHalfWay() async throws {
        let source = swatches(.color)
        let full = try await rendered(source) { $0.tint = Color("#0040ff") }
        let half = try await rendered(source) { $0.tint = Color("#0040ff80") }
        for (x, y) in source.places {
            for band in 0..<3 {
                let expected = Double(source[x, y][band]) * 127 / 255 + Double(full[x, y][band]) * 128 / 255
                #expect(abs(Double(half[x, y][band]) - expected) <= 1, "\(x) \(y)")
            }
        }
    }

    /// What a Gaussian makes of a step from 0 to 255.
    private func isBlurredStep(_ grid: PixelGrid, at edge: Int, sigma: Double, tolerance: Double) -> Bool {
        (0..<grid.width).allSatisfy { x in
            let expected = 127.5 * (1 + erf((Double(x) + 0.5 - Double(edge)) / (sigma * 2.0.squareRoot())))
            return abs(Double(grid[x, grid.height / 2][0]) - expected) <= tolerance
        }
    }

    @Test(
        arguments: TestLength.few(PixelKind.allCases, 1),
        TestLength.few([(1.0, 1.0), (3, 1), (3, 2), (7.9, 1), (12, 1), (20, 1.5)], 2)
    )
    func blurIsAGaussianOfDevicePixels(_ kind: PixelKind, _ blur: (sigma: Double, dpr: Double)) async throws {
        let source = PixelGrid(240, 180) { x, _ in kind.pixel(x < 120 ? 0 : 255, x < 120 ? 0 : 255, 0, alpha: 200) }
        let result = try await rendered(source, dpr: blur.dpr) { $0.blur = blur.sigma }
        #expect(result.bands == source.bands)
        if kind.hasAlpha { #expect(result.places.allSatisfy { result[$0.x, $0.y].last == 200 }) }
        // The kernel ends before the bell does; libvips enlarges half a pixel off (wide blurs are enlarged).
        let tolerance = blur.sigma * blur.dpr > 8 ? 6.0 : 4
        #expect(isBlurredStep(result, at: 120, sigma: blur.sigma * blur.dpr, tolerance: tolerance))
        #expect(
            !isBlurredStep(result, at: 120, sigma: blur.sigma * blur.dpr * 1.2, tolerance: tolerance),
            "too tolerant"
        )
    }

    @Test(arguments: [PixelKind.colorWithAlpha, .greyWithAlpha], [2.0, 9])
    func blurLeavesNoDarkFringe(_ kind: PixelKind, sigma: Double) async throws {
        let result = try await rendered(disc(kind, [255, 255, 255])) { $0.blur = sigma }
        var edges = 0
        for (x, y) in result.places {
            let pixel = result[x, y]
            let alpha = pixel[pixel.count - 1]
            if alpha > 0 { #expect(pixel.dropLast().allSatisfy { $0 == 255 }, "\(x) \(y): \(pixel)") }
            if alpha > 0, alpha < 255 { edges += 1 }
        }
        #expect(edges > 300)
        #expect(result[32, 32].last ?? 0 > 200)
    }

    @Test(arguments: PixelKind.allCases)
    func sharpenRaisesEdgesOnly(_ kind: PixelKind) async throws {
        let source = PixelGrid(80, 40) { x, _ in
            let level = x < 40 ? 90 : 160
            return kind.pixel(level, level, level, alpha: 200)
        }
        let result = try await rendered(source) { $0.sharpen = 1.5 }
        #expect(result.bands == source.bands)
        #expect(result[39, 20][0] < 84 && result[40, 20][0] > 166, "\(result[39, 20]) \(result[40, 20])")
        for x in [5, 20, 60, 75] { #expect(abs(result[x, 20][0] - source[x, 20][0]) <= 1) }
        if kind.hasAlpha { #expect(result.places.allSatisfy { result[$0.x, $0.y].last == 200 }) }
    }

    @Test func sharpenMaskIsInDevicePixels() async throws {
        let source = PixelGrid(120, 40) { x, _ in PixelKind.grey.pixel(x < 60 ? 90 : 160, 0, 0) }
        /// Columns that an edge has changed.
        func reach(_ dpr: Double) async throws -> Int {
            let result = try await rendered(source, dpr: dpr) { $0.sharpen = 1.5 }
            return (0..<120).count { abs(result[$0, 20][0] - source[$0, 20][0]) > 2 }
        }
        let (single, double) = try await (reach(1), reach(2))
        #expect(double > single * 3 / 2, "\(single) \(double)")
    }

    @Test(arguments: [PixelKind.colorWithAlpha, .greyWithAlpha])
    func sharpenGivesTransparentEdgesNoSeam(_ kind: PixelKind) async throws {
        let source = disc(kind, [120, 120, 120])
        let result = try await rendered(source) { $0.sharpen = 3 }
        for (x, y) in source.places where source[x, y].last == 255 {
            #expect(result[x, y].dropLast().allSatisfy { abs($0 - 120) <= 2 }, "\(x) \(y): \(result[x, y])")
            #expect(result[x, y].last == 255)
        }
    }

    @Test(arguments: [PixelKind.colorWithAlpha, .greyWithAlpha])
    func resizingLeavesNoDarkFringe(_ kind: PixelKind) async throws {
        let path = try disc(kind, [255, 255, 255]).write(to: "disc.tif", in: folder)
        let rendition = Rendition(width: 23, format: .png)
        let result = try await PixelGrid(of: render(rendition, of: path).renditions[0])
        for (x, y) in result.places where result[x, y].last != 0 {
            #expect(result[x, y].dropLast().allSatisfy { $0 == 255 }, "\(x) \(y): \(result[x, y])")
        }
    }

    @Test func filtersRunInTheDocumentedOrder() async throws {
        // Grey first would leave saturation nothing to do; a tint before grey would vanish.
        let source = swatches(.color)
        let result = try await rendered(source) {
            $0.saturation = 0
            $0.grayscale = true
            $0.tint = Color("#ff0000")
        }
        let pixel = result[3, 0]
        #expect(pixel[0] > pixel[1] + 40 && pixel[0] > pixel[2] + 40, "\(pixel)")
    }
}
