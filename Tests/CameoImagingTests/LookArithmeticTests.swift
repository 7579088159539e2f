import CameoModel
import Testing

@testable import CameoImaging

@Suite(.timeLimit(.minutes(10)))
struct LookArithmeticTests {
    /// Brightness, contrast and saturation, and the resulting pixel for 200, 100, 50.
    private static let filters: [(factors: [Double], expected: [Double])] = [
        ([1, 1, 0], [117.7, 117.7, 117.7]), ([1, 1, 2], [282.3, 82.3, -17.7]), ([0.5, 1, 1], [100, 50, 25]),
        ([1, 2, 1], [255, 72.5, 0]), ([2, 0.5, 1], [191.25, 163.75, 113.75]),
        ([1, 0, 1], [127.5, 127.5, 127.5]),
    ]

    /// Computed by hand from the matrices of Filter Effects Module Level 1, section 9.
    @Test(arguments: filters)
    func matricesAreThoseOfCSS(_ factors: [Double], expected: [Double]) {
        let matrix = ColorMatrix(brightness: factors[0], contrast: factors[1], saturation: factors[2])
        let pixel = [200, 100, 50]
        let result = (0..<3).map { row in
            (0..<3).reduce(0.0) { $0 + matrix.factors[row * 3 + $1] * matrix.shades[pixel[$1]] }
        }
        #expect(zip(result, expected).allSatisfy { abs($0 - $1) < 0.01 }, "\(result)")
    }

    @Test(arguments: ["#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff", "#123456", "#fedcba", "#808080"])
    func labThereAndBackIsTheSameColor(_ text: String) throws {
        let color = try #require(Color(text))
        #expect(LabColor(color).color == color)
    }

    /// Values of Bruce Lindbloom's calculator for sRGB under D65.
    @Test(arguments: [
        ("#ff0000", [53.24, 80.09, 67.20]), ("#00ff00", [87.73, -86.18, 83.18]), ("#0000ff", [32.30, 79.19, -107.86]),
        ("#808080", [53.59, 0, 0]),
    ])
    func labIsCIEs(_ text: String, expected: [Double]) throws {
        let lab = LabColor(try #require(Color(text)))
        #expect(zip([lab.lightness, lab.a, lab.b], expected).allSatisfy { abs($0 - $1) < 0.02 }, "\(lab)")
    }

    @Test func tintsKeepBlackWhiteAndLightness() throws {
        let tint = try #require(Color("#c04020"))
        let colors = TintTable.colors(of: tint)
        #expect(colors.first == Color("#000000") && colors.last == .white)
        for grey in [40, 90, 128, 170] {
            let byte = UInt8(grey)
            let expected = LabColor(Color(red: byte, green: byte, blue: byte, alpha: 255)).lightness
            let lab = LabColor(colors[grey])
            #expect(abs(lab.lightness - expected) < 1, "\(grey)")
            #expect(lab.a > 5 && lab.b > 5, "\(grey): \(lab)")
        }
    }

    /// The area that rounding removes is a square minus its quarter circle.
    @Test(arguments: [0.3, 1, 1.5, 4, 7.25, 40, 100.5])
    func cornerAreaIsExact(_ radius: Double) {
        let mask = CornerCoverage.mask(radius: radius)
        #expect(mask.count == CornerCoverage.edge(radius: radius) * CornerCoverage.edge(radius: radius))
        let removed = mask.reduce(0.0) { $0 + 1 - Double($1) / 255 }
        let expected = radius * radius * (1 - Double.pi / 4)
        // Each pixel is rounded to 1/255.
        #expect(abs(removed - expected) < 0.002 * Double(mask.count).squareRoot() + 0.002, "\(removed) \(expected)")
        for row in 0..<CornerCoverage.edge(radius: radius) {
            for column in 0..<row {
                let edge = CornerCoverage.edge(radius: radius)
                #expect(mask[row * edge + column] == mask[column * edge + row])
            }
        }
    }

    /// The size and place of an overlay on 200 × 100 pixels.
    struct OverlayCase: Sendable {
        let scale: Double?
        let margin: Int
        let own: PixelSize
        let size: PixelSize
        let left: Int
        let top: Int

        init(_ scale: Double?, _ margin: Int, _ own: (Int, Int), gives size: (Int, Int), at place: (Int, Int)) {
            (self.scale, self.margin) = (scale, margin)
            (self.own, self.size) = (PixelSize(own.0, own.1), PixelSize(size.0, size.1))
            (left, top) = place
        }
    }

    private static let overlayCases = [
        OverlayCase(nil, 0, (40, 20), gives: (40, 20), at: (160, 80)),
        OverlayCase(0.5, 0, (40, 20), gives: (100, 50), at: (100, 50)),
        OverlayCase(0.5, 0, (20, 40), gives: (25, 50), at: (175, 50)),
        OverlayCase(nil, 0, (400, 100), gives: (200, 50), at: (0, 50)),
        OverlayCase(nil, 10, (400, 100), gives: (180, 45), at: (10, 45)),
        OverlayCase(1, 10, (8, 8), gives: (80, 80), at: (110, 10)),
        OverlayCase(nil, 4_000, (40, 40), gives: (2, 2), at: (99, 49)),
        OverlayCase(0.01, 0, (1_000, 1), gives: (2, 1), at: (198, 99)),
    ]

    @Test(arguments: overlayCases)
    func overlaysFit(_ example: OverlayCase) {
        let overlay = Rendition.Overlay(source: "x", scale: example.scale, margin: example.margin)
        let place = PixelArea(of: example.own, on: PixelSize(200, 100), overlay, margin: example.margin)
        #expect(place.size == example.size)
        #expect(place.left == example.left && place.top == example.top)
    }
}
