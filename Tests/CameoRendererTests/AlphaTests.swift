import CameoModel
import CameoRenderer
import TestSupport
import Testing

/// Resizing, padding and filters around a red disc of radius 70 in the middle of 240 × 160 transparent pixels.
@Suite(.timeLimit(.minutes(10)))
struct AlphaTests {
    private func specimen(_ rendition: Rendition, of path: String) async throws -> Specimen {
        try await Specimen(Renderers.shared.get().render(rendition, of: path).renditions[0])
    }

    @Test(arguments: [Rendition.Format.png, .webp, .avif])
    func transparencyIsKept(_ format: Rendition.Format) async throws {
        let specimen = try await specimen(Rendition(width: 120, format: format), of: Pictures.disc("png"))
        let (corner, center) = try await (specimen.pixel(1, 1), specimen.pixel(60, 40))
        #expect(corner.count == 4 && corner[3] < 3)
        #expect(center[0] > 245 && center[1] < 12 && center[3] > 252)
    }

    @Test(.enabled(if: TestLength.isWhole, "--all")) func edgesHaveNoDarkFringe() async throws {
        let specimen = try await specimen(Rendition(width: 61, format: .png), of: Pictures.disc("png"))
        var edges = 0
        for x in 0..<61 {
            let pixel = try await specimen.pixel(x, 20)
            guard pixel[3] > 20, pixel[3] < 235 else { continue }
            edges += 1
            // Pure red, only thinner: no black may bleed in from transparent pixels.
            #expect(pixel[0] > 245 && pixel[1] < 10, "\(pixel)")
        }
        #expect(edges > 0)
    }

    @Test(arguments: [
        (nil, [255.0, 255, 255]), (Color("#0000ff"), [0, 0, 255]), (Color("#00000000"), [255, 255, 255]),
    ])
    func jpegShowsABackground(_ background: Color?, expected: [Double]) async throws {
        let rendition = Rendition(width: 120, format: .jpeg, background: background)
        let specimen = try await specimen(rendition, of: Pictures.disc("png"))
        let corner = try await specimen.pixel(2, 2)
        #expect(zip(corner, expected).allSatisfy { abs($0 - $1) < 12 }, "\(corner)")
    }

    @Test func opaqueBackgroundTakesTheAlphaAway() async throws {
        let rendition = Rendition(width: 120, format: .png, background: Color("#00ff00"))
        let specimen = try await specimen(rendition, of: Pictures.disc("png"))
        #expect(try await specimen.pixel(1, 1) == [0, 255, 0])
        #expect(try await specimen.pixel(60, 40) == [255, 0, 0])
    }

    @Test func translucentBackgroundStaysTranslucent() async throws {
        let rendition = Rendition(width: 120, format: .png, background: Color("#00ff0080"))
        let specimen = try await specimen(rendition, of: Pictures.disc("png"))
        #expect(try await specimen.pixel(1, 1) == [0, 255, 0, 128])
        #expect(try await specimen.pixel(60, 40) == [255, 0, 0, 255])
    }

    @Test(arguments: [
        (Rendition.Gravity.center, [10, 10], [60, 60]), (.north, [60, 110], [60, 30]), (.south, [60, 10], [60, 90]),
    ])
    func containPadsTransparentlyByGravity(_ gravity: Rendition.Gravity, empty: [Int], full: [Int]) async throws {
        let rendition = Rendition(width: 120, height: 120, fit: .contain, gravity: gravity, format: .png)
        let specimen = try await specimen(rendition, of: Pictures.plain(240, 160))
        #expect(try await specimen.pixel(empty[0], empty[1])[3] == 0)
        #expect(try await specimen.pixel(full[0], full[1]) == [90, 120, 150, 255])
    }

    @Test func containPadsJPEGWithWhiteOrTheBackground() async throws {
        for (background, expected) in [(nil, [255.0, 255, 255]), (Color("#102030"), [16, 32, 48])] {
            let rendition = Rendition(width: 120, height: 120, fit: .contain, format: .jpeg, background: background)
            let specimen = try await specimen(rendition, of: Pictures.plain(240, 160))
            let corner = try await specimen.pixel(4, 4)
            #expect(zip(corner, expected).allSatisfy { abs($0 - $1) < 8 }, "\(corner)")
        }
    }

    @Test func greyPictureOnAColoredBackgroundBecomesColored() async throws {
        let rendition = Rendition(
            width: 100,
            height: 100,
            fit: .contain,
            format: .png,
            background: Color("#ff0000")
        )
        let specimen = try await specimen(rendition, of: Pictures.grey("png"))
        #expect(try await specimen.pixel(2, 2) == [255, 0, 0])
    }

    @Test(arguments: [Rendition.Gravity.entropy, .attention])
    func smartGravityFindsTheDisc(_ gravity: Rendition.Gravity) async throws {
        // The disc at the right end of a long transparent strip.
        let strip = try await Pictures.discInStrip()
        let rendition = Rendition(width: 80, height: 80, fit: .cover, gravity: gravity, format: .png)
        let specimen = try await specimen(rendition, of: strip)
        #expect(specimen.edges == [80, 80])
        let middle = try await specimen.pixel(40, 40)
        #expect(middle[0] > 200 && middle[1] < 60, "\(middle)")
    }

    /// Padding shows a translucent background exactly once, like transparent pixels of the picture.
    @Test(arguments: [(Rendition.Format.png, [255.0, 0, 0, 128]), (.jpeg, [255, 127, 127])])
    func translucentBackgroundIsShownOnce(_ format: Rendition.Format, expected: [Double]) async throws {
        let background = Color(red: 255, green: 0, blue: 0, alpha: 128)
        let rendition = Rendition(
            width: 120,
            height: 120,
            fit: .contain,
            format: format,
            quality: format == .jpeg ? 100 : nil,
            background: background
        )
        let specimen = try await specimen(rendition, of: Pictures.disc("png"))
        // The padding, and the disc's own transparent corner.
        for y in [5, 22] {
            let pixel = try await specimen.pixel(3, y)
            #expect(zip(pixel, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(y): \(pixel)")
        }
    }

    @Test(arguments: [Rendition.Format.jpeg, .png, .webp, .avif])
    func samplesBeyondAlphaAreDropped(_ format: Rendition.Format) async throws {
        let folder = try TemporaryFolder()
        let (photo, grey, path) = (try await Pictures.photo("png"), folder.path("grey.v"), folder.path("six.tif"))
        try await Pictures.vips("extract_band", photo, grey, "0")
        try await Pictures.vips("bandjoin", "\(photo) \(grey) \(grey) \(grey)", path)
        // Sharpening needs a known interpretation, which libvips does not give these pixels.
        for sharpen in [nil, 1.5] {
            var rendition = Rendition(width: 40, height: 40, format: format)
            rendition.look.sharpen = sharpen
            let specimen = try await specimen(rendition, of: path)
            #expect(specimen.header["width"] == "40", "\(specimen.summary)")
        }
    }
}
