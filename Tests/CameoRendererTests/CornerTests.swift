import CameoModel
import CameoRenderer
import TestSupport
import Testing

/// Rounded corners on a plain picture of 60 × 40.
@Suite(.timeLimit(.minutes(10)))
struct CornerTests {
    private typealias Corner = Rendition.Look.Corner

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rendered(
        _ radius: Rendition.Look.CornerRadius,
        _ corners: Set<Rendition.Look.Corner> = Set(Rendition.Look.Corner.allCases),
        on kind: PixelKind = .color,
        alpha: Int = 255,
        dpr: Double = 1,
        format: Rendition.Format = .png,
        background: Color? = nil
    ) async throws -> PixelGrid {
        let source = PixelGrid(60, 40) { _, _ in kind.pixel(255, 200, 100, alpha: alpha) }
        let path = try source.write(to: "source.tif", in: folder)
        var rendition = Rendition(width: Int(60 / dpr), height: Int(40 / dpr), format: format, background: background)
        rendition.dpr = dpr
        rendition.look.cornerRadius = radius
        rendition.look.corners = corners
        return try await PixelGrid(of: render(rendition, of: path).renditions[0])
    }

    /// The share of a pixel inside the shape, sampled at 16 × 16 points, 0…255.
    private func share(_ x: Int, _ y: Int, radius: Double, _ corners: Set<Rendition.Look.Corner>) -> Double {
        var inside = 0
        for step in 0..<256 {
            let px = Double(x) + (Double(step % 16) + 0.5) / 16
            let py = Double(y) + (Double(step / 16) + 0.5) / 16
            let (isLeft, isTop) = (px < 30, py < 20)
            let corner: Corner = isTop ? (isLeft ? .topLeft : .topRight) : (isLeft ? .bottomLeft : .bottomRight)
            let (dx, dy) = (radius - min(px, 60 - px), radius - min(py, 40 - py))
            let isOutside = dx > 0 && dy > 0 && dx * dx + dy * dy > radius * radius
            if !corners.contains(corner) || !isOutside { inside += 1 }
        }
        return Double(inside) * 255 / 256
    }

    @Test(arguments: PixelKind.allCases, [255, 100])
    func cornersAreCutWithExactCoverage(_ kind: PixelKind, alpha: Int) async throws {
        let result = try await rendered(.pixels(12), on: kind, alpha: alpha)
        #expect(result.bands == (kind.isGrey ? 2 : 4))
        let whole = kind.hasAlpha ? Double(alpha) / 255 : 1
        for (x, y) in result.places {
            let pixel = result[x, y]
            let expected = share(x, y, radius: 12, Set(Corner.allCases)) * whole
            #expect(abs(Double(pixel[pixel.count - 1]) - expected) <= 4, "\(x) \(y): \(pixel), not \(expected)")
            // The colour is unchanged wherever anything is visible.
            #expect(pixel.dropLast() == (kind.isGrey ? [255] : [255, 200, 100]))
        }
    }

    @Test(arguments: Rendition.Look.Corner.allCases)
    func onlyChosenCornersAreRound(_ corner: Rendition.Look.Corner) async throws {
        let result = try await rendered(.pixels(15), [corner])
        let places: [(Corner, Int, Int)] = [
            (.topLeft, 0, 0), (.topRight, 59, 0), (.bottomRight, 59, 39), (.bottomLeft, 0, 39),
        ]
        for (place, x, y) in places { #expect(result[x, y][3] == (place == corner ? 0 : 255), "\(place)") }
        for (x, y) in result.places {
            #expect(abs(Double(result[x, y][3]) - share(x, y, radius: 15, [corner])) <= 4, "\(x) \(y)")
        }
    }

    @Test(arguments: [
        (Rendition.Look.CornerRadius.pixels(6), 2.0, 12.0), (.fraction(0.25), 1, 10), (.fraction(0.25), 2, 10),
        (.fraction(0.5), 1, 20), (.pixels(500), 1, 20),
    ])
    func radiusIsInDevicePixelsAndNoMoreThanHalfTheShorterEdge(
        _ radius: Rendition.Look.CornerRadius,
        dpr: Double,
        expected: Double
    ) async throws {
        let result = try await rendered(radius, dpr: dpr)
        for (x, y) in result.places {
            let share = share(x, y, radius: expected, Set(Corner.allCases))
            #expect(abs(Double(result[x, y][3]) - share) <= 4, "\(x) \(y)")
        }
    }

    @Test(arguments: PixelKind.allCases)
    func circleLeavesTheLargestDiscInTheMiddle(_ kind: PixelKind) async throws {
        let result = try await rendered(.circle, on: kind)
        for (x, y) in result.places {
            let (dx, dy) = (Double(x) + 0.5 - 30, Double(y) + 0.5 - 20)
            let distance = (dx * dx + dy * dy).squareRoot()
            let alpha = result[x, y].last ?? -1
            if distance < 19.2 { #expect(alpha == 255, "\(x) \(y)") }
            if distance > 20.8 { #expect(alpha == 0, "\(x) \(y)") }
        }
        #expect([result.width, result.height] == [60, 40])
    }

    @Test(arguments: [(nil, [255, 255, 255]), (Color("#0000ff"), [0, 0, 255])])
    func jpegShowsTheBackgroundBehindCorners(_ background: Color?, expected: [Int]) async throws {
        let result = try await rendered(.pixels(20), format: .jpeg, background: background)
        #expect(result.bands == 3)
        for (x, y) in [(0, 0), (59, 0), (0, 39), (59, 39)] {
            #expect(zip(result[x, y], expected).allSatisfy { abs($0 - $1) < 40 }, "\(result[x, y])")
        }
        #expect(zip(result[30, 20], [255, 200, 100]).allSatisfy { abs($0 - $1) < 6 }, "\(result[30, 20])")
    }

    @Test func opaqueBackgroundFillsCornersAndTakesAlphaAway() async throws {
        let result = try await rendered(.circle, background: Color("#00ff00"))
        #expect(result.bands == 3)
        #expect(result[0, 0] == [0, 255, 0] && result[30, 20] == [255, 200, 100])
    }
}
