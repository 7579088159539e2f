import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// The placeholders that come with thumbnails; their algorithms are tested in CameoImagingTests.
@Suite(.timeLimit(.minutes(10)))
struct PlaceholderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func placeholder(
        of grid: PixelGrid,
        _ rendition: Rendition = Rendition(width: 90, format: .png)
    ) async throws -> Placeholder {
        let path = try grid.write(to: "source.tif", in: folder)
        return try await rendered(rendition, of: path).placeholder
    }

    /// The mean of a ThumbHash as red, green, blue and alpha, 0…1.
    private func mean(_ placeholder: Placeholder) throws -> [Double] {
        let hash = Array(try #require(Data(base64Encoded: placeholder.thumbHash)))
        try #require(hash.count > 5)
        let bits = Int(hash[0]) | Int(hash[1]) << 8 | Int(hash[2]) << 16
        let light = Double(bits & 63) / 63
        let (yellow, red) = (Double(bits >> 6 & 63) / 31.5 - 1, Double(bits >> 12 & 63) / 31.5 - 1)
        let blue = light - 2 / 3 * yellow
        let redness = (3 * light - blue + red) / 2
        return [redness, redness - red, blue, bits >> 23 == 1 ? Double(hash[5] & 15) / 15 : 1]
    }

    @Test(arguments: PixelKind.allCases, [PixelSizes.one, .strip, .small, .large])
    func plainPicturesGiveTheirColor(_ kind: PixelKind, _ size: PixelSizes) async throws {
        let grid = PixelGrid(size.width, size.height) { _, _ in kind.pixel(200, 60, 30) }
        let placeholder = try await placeholder(of: grid)
        let expected = kind.isGrey ? [200, 200, 200] : [200, 60, 30]
        #expect(placeholder.dominantColor.description == (kind.isGrey ? "#c8c8c8ff" : "#c83c1eff"))
        let mean = try mean(placeholder)
        #expect(zip(mean, expected).allSatisfy { abs($0 * 255 - Double($1)) < 8 }, "\(mean)")
        #expect(mean[3] == 1)
        #expect(placeholder.blurHash.count == 28)
        #expect(placeholder.blurHash.first == (size.height > size.width ? "T" : "L"))
    }

    /// Widths and heights.
    enum PixelSizes: Sendable {
        case one, strip, small, large

        var width: Int { [1, 300, 20, 400][index] }
        var height: Int { [1, 2, 30, 300][index] }

        private var index: Int {
            switch self {
            case .one: 0
            case .strip: 1
            case .small: 2
            case .large: 3
            }
        }
    }

    @Test(arguments: [PixelKind.colorWithAlpha, .greyWithAlpha])
    func invisiblePicturesHaveOneToo(_ kind: PixelKind) async throws {
        let grid = PixelGrid(50, 40) { _, _ in kind.pixel(10, 20, 30, alpha: 0) }
        let placeholder = try await placeholder(of: grid)
        #expect(placeholder.dominantColor == .white)
        #expect(try mean(placeholder)[3] == 0)
    }

    @Test func hiddenColorsDoNotShow() async throws {
        let grid = PixelGrid(80, 80) { x, _ in x < 40 ? [0, 0, 250, 255] : [250, 0, 0, 0] }
        let placeholder = try await placeholder(of: grid)
        #expect(placeholder.dominantColor.description == "#0000faff")
        let mean = try mean(placeholder)
        #expect(mean[0] < 0.06 && mean[2] > 0.9, "\(mean)")
        #expect(abs(mean[3] - 0.5) < 0.07)
    }

    @Test func placeholdersAreOfTheThumbnailNotOfTheSource() async throws {
        let grid = PixelGrid(120, 60) { x, _ in x < 60 ? [250, 0, 0] : [0, 0, 250] }
        var right = Rendition(width: 40, height: 40, fit: .cover, gravity: .east, format: .png)
        #expect(try await placeholder(of: grid, right).dominantColor.description == "#0000faff")
        right.gravity = .west
        right.look.grayscale = true
        let grey = try await placeholder(of: grid, right).dominantColor
        #expect(grey.red == grey.green && grey.green == grey.blue)
    }

    @Test func sameRequestSamePlaceholder() async throws {
        let photo = try await Pictures.photo()
        let rendition = Rendition(width: 200, format: .webp)
        let first = try await rendered(rendition, of: photo).placeholder
        let second = try await rendered(rendition, of: photo).placeholder
        #expect(first == second)
    }
}
