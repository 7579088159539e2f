import CameoModel
import CameoRenderer
import CameoSystem
import TestSupport
import Testing

/// A red overlay of 20 × 10 on plain pictures of 100 × 60.
@Suite(.timeLimit(.minutes(10)))
struct OverlayTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rendered(
        on source: PixelGrid,
        _ mark: PixelGrid,
        dpr: Double = 1,
        format: Rendition.Format = .png,
        fit: Rendition.Fit = .inside,
        _ change: (inout Rendition.Overlay) -> Void = { _ in }
    ) async throws -> PixelGrid {
        let path = try source.write(to: "source.tif", in: folder)
        let markPath = try mark.write(to: "mark.tif", in: folder)
        var overlay = Rendition.Overlay(source: "file://\(markPath)")
        change(&overlay)
        var rendition = Rendition(width: Int(100 / dpr), height: Int(60 / dpr), fit: fit, format: format)
        rendition.dpr = dpr
        rendition.look.overlay = overlay
        let picture = try await Renderers.shared.get().render(
            [rendition],
            of: OpenFile(reading: path),
            overlays: [(source: overlay.source, file: OpenFile(reading: markPath), kind: .file)],
            named: path
        )
        return try await PixelGrid(of: picture.renditions[0])
    }

    private func plain(_ kind: PixelKind = .color, alpha: Int = 255) -> PixelGrid {
        PixelGrid(100, 60) { _, _ in kind.pixel(40, 80, 120, alpha: alpha) }
    }

    private func mark(_ width: Int = 20, _ height: Int = 10, alpha: Int = 255) -> PixelGrid {
        PixelGrid(width, height) { _, _ in PixelKind.colorWithAlpha.pixel(250, 0, 0, alpha: alpha) }
    }

    /// Left, top, width and height of the changed pixels.
    private func changed(_ grid: PixelGrid, from color: [Int] = [40, 80, 120]) -> [Int] {
        let places = grid.places.filter { grid[$0.x, $0.y] != color }
        guard let left = places.map(\.x).min(), let right = places.map(\.x).max(),
            let top = places.map(\.y).min(), let bottom = places.map(\.y).max()
        else { return [] }
        return [left, top, right - left + 1, bottom - top + 1]
    }

    @Test(arguments: [
        (Rendition.Gravity.northwest, 5, 5), (.north, 40, 5), (.northeast, 75, 5), (.west, 5, 25), (.center, 40, 25),
        (.east, 75, 25), (.southwest, 5, 45), (.south, 40, 45), (.southeast, 75, 45),
        (.focus(Rendition.FocalPoint(x: 0.25, y: 0.5)), 18, 25),
        (.focus(Rendition.FocalPoint(x: 1, y: 0)), 75, 5),
    ])
    func standsWhereGravitySays(_ gravity: Rendition.Gravity, left: Int, top: Int) async throws {
        let result = try await rendered(on: plain(), mark()) {
            $0.gravity = gravity
            $0.margin = 5
        }
        #expect(changed(result) == [left, top, 20, 10])
        #expect(result.bands == 3)
        #expect(result[left + 10, top + 5] == [250, 0, 0])
    }

    @Test func marginIsInDevicePixels() async throws {
        let result = try await rendered(on: plain(), mark(), dpr: 2) { $0.margin = 8 }
        #expect(changed(result) == [64, 34, 20, 10])
    }

    /// A scale (0: none), a margin, the overlay's size, and its place.
    private static let sizes: [[Double]] = [
        [0.5, 0, 20, 10, 50, 35, 50, 25], [0.5, 10, 20, 10, 40, 25, 50, 25], [1, 0, 20, 10, 0, 10, 100, 50],
        [0.1, 0, 20, 10, 90, 55, 10, 5], [0, 0, 300, 90, 0, 30, 100, 30], [0, 10, 200, 200, 50, 10, 40, 40],
    ]

    @Test(arguments: sizes)
    func isAsLargeAsScaleAndMarginsLetIt(_ numbers: [Double]) async throws {
        let (size, expected) = (numbers[2..<4].map { Int($0) }, numbers[4...].map { Int($0) })
        let result = try await rendered(on: plain(), mark(size[0], size[1])) {
            $0.scale = numbers[0] == 0 ? nil : numbers[0]
            $0.margin = Int(numbers[1])
        }
        #expect(changed(result) == expected)
    }

    @Test(
        arguments: PixelKind.allCases,
        TestLength.few([(1.0, 255), (0.5, 255), (1, 128), (0.25, 200), (0, 255)], 2, whole: 3)
    )
    func blendsOverByOpacity(_ kind: PixelKind, _ strength: (opacity: Double, alpha: Int)) async throws {
        for under in kind.hasAlpha ? [255, 100, 0] : [255] {
            let result = try await rendered(on: plain(kind, alpha: under), mark(alpha: strength.alpha)) {
                $0.opacity = strength.opacity
            }
            // The encoder omits an alpha band that hides nothing.
            let hasAlpha = kind.hasAlpha && under < 255
            #expect(result.bands == (hasAlpha ? 4 : 3))
            // Porter and Duff's "over".
            let (over, below) = (strength.opacity * Double(strength.alpha) / 255, Double(under) / 255)
            let alpha = over + below * (1 - over)
            let base = kind.isGrey ? [40.0, 40, 40] : [40, 80, 120]
            let expected = zip([250.0, 0, 0], base).map { over * $0 + below * (1 - over) * $1 }
            let pixel = result[90, 55]
            if alpha > 0 {
                for band in 0..<3 {
                    #expect(abs(Double(pixel[band]) - expected[band] / alpha) <= 1, "\(under): \(pixel) \(expected)")
                }
            }
            if hasAlpha { #expect(abs(Double(pixel[3]) - alpha * 255) <= 1, "\(under): \(pixel)") }
            // All other pixels stay exactly the same.
            let untouched = result[10, 10]
            #expect(Array(untouched.prefix(3)) == base.map { Int($0) })
            if hasAlpha { #expect(untouched[3] == under) }
        }
    }

    @Test func edgesOfARoundMarkHaveNoDarkFringe() async throws {
        let disc = PixelGrid(200, 200) { x, y in
            let isInside = (x - 100) * (x - 100) + (y - 100) * (y - 100) < 8_100
            return isInside ? [255, 255, 255, 255] : [0, 0, 0, 0]
        }
        let white = PixelGrid(100, 60) { _, _ in [255, 255, 255] }
        let result = try await rendered(on: white, disc) { $0.scale = 0.5 }
        #expect(result.bytes.allSatisfy { $0 == 255 }, "white on white must not be seen")
    }

    @Test func standsOnTheThumbnailPaddingIncluded() async throws {
        let tall = PixelGrid(30, 60) { _, _ in PixelKind.color.pixel(40, 80, 120) }
        let result = try await rendered(on: tall, mark(), fit: .contain) { $0.gravity = .west }
        #expect(result[5, 30] == [250, 0, 0, 255])
        #expect(result[5, 5][3] == 0)
    }

    @Test(arguments: [Rendition.Format.jpeg, .webp, .avif])
    func survivesEveryFormat(_ format: Rendition.Format) async throws {
        let result = try await rendered(on: plain(), mark(), format: format) { $0.scale = 0.5 }
        let (on, off) = (result[75, 47], result[20, 20])
        #expect(on[0] > 220 && on[1] < 40 && on[2] < 40, "\(on)")
        #expect(zip(off, [40, 80, 120]).allSatisfy { abs($0 - $1) < 12 }, "\(off)")
    }
}
