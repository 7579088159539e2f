import CameoModel
import CameoRenderer
import TestSupport
import Testing

/// Borders on a plain picture of 60 × 40.
@Suite(.timeLimit(.minutes(10)))
struct BorderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rendered(
        on kind: PixelKind = .color,
        alpha: Int = 255,
        format: Rendition.Format = .png,
        dpr: Double = 1,
        _ change: (inout Rendition.Look) -> Void
    ) async throws -> PixelGrid {
        let source = PixelGrid(60, 40) { _, _ in kind.pixel(255, 200, 100, alpha: alpha) }
        let path = try source.write(to: "source.tif", in: folder)
        var rendition = Rendition(width: Int(60 / dpr), height: Int(40 / dpr), format: format)
        rendition.dpr = dpr
        change(&rendition.look)
        return try await PixelGrid(of: render(rendition, of: path).renditions[0])
    }

    @Test(arguments: PixelKind.allCases)
    func itIsDrawnOverTheEdges(_ kind: PixelKind) async throws {
        let result = try await rendered(on: kind, alpha: 100) { look in
            (look.border, look.borderColor) = (3, Color(red: 1, green: 2, blue: 3, alpha: 255))
        }
        #expect((result.width, result.height) == (60, 40), "the size stays the same")
        let inside = kind.isGrey ? [255, 255, 255] : [255, 200, 100]
        for (x, y) in result.places {
            let isBorder = x < 3 || y < 3 || x >= 57 || y >= 37
            let alpha = kind.hasAlpha ? [isBorder ? 255 : 100] : []
            #expect(result[x, y] == (isBorder ? [1, 2, 3] : inside) + alpha, "\(x) \(y)")
        }
    }

    @Test func itIsBlackUnlessItHasAColorAndCountsPixelsBeforeTheRatio() async throws {
        let result = try await rendered(dpr: 2) { $0.border = 2 }
        for (x, y) in [(0, 0), (3, 20), (59, 20), (30, 36)] { #expect(result[x, y] == [0, 0, 0], "\(x) \(y)") }
        for (x, y) in [(4, 20), (55, 20), (30, 35)] { #expect(result[x, y] == [255, 200, 100], "\(x) \(y)") }
    }

    @Test func aTranslucentBorderShowsThePictureBelow() async throws {
        let result = try await rendered { look in
            (look.border, look.borderColor) = (3, Color(red: 0, green: 0, blue: 0, alpha: 51))
        }
        #expect(result[0, 0] == [204, 160, 80])
    }

    @Test func aWideBorderCoversEverything() async throws {
        let result = try await rendered { $0.border = 4_096 }
        #expect(result.places.allSatisfy { result[$0, $1] == [0, 0, 0] })
    }

    @Test func itFollowsRoundCorners() async throws {
        let result = try await rendered { look in
            (look.border, look.cornerRadius) = (4, .pixels(12))
        }
        #expect(result[0, 0][3] == 0)
        // On the diagonal of a corner, the outer curve is at 3.5 pixels from it, the inner one at 6.3.
        #expect(result[2, 2][3] == 0)
        #expect(result[5, 5] == [0, 0, 0, 255])
        #expect(result[7, 7] == [255, 200, 100, 255])
        #expect(result[0, 20] == [0, 0, 0, 255] && result[4, 20] == [255, 200, 100, 255])
    }

    @Test func itFollowsACircle() async throws {
        let result = try await rendered { look in (look.border, look.cornerRadius) = (4, .circle) }
        // The circle is 40 pixels wide, from 10 to 50.
        #expect(result[9, 20][3] == 0 && result[51, 20][3] == 0)
        for x in [11, 12, 47, 48] { #expect(result[x, 20] == [0, 0, 0, 255], "\(x)") }
        for x in [15, 30, 44] { #expect(result[x, 20] == [255, 200, 100, 255], "\(x)") }
    }
}
