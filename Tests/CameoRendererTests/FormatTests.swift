import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FormatTests {
    static let inputs = [
        "photo.jpg", "photo.png", "photo.gif", "photo.webp", "photo.tif", "photo.heic", "photo.avif", "progressive.jpg",
        "interlaced.png", "grey.jpg", "grey.png", "sixteen.png", "sixteen.tif", "disc.png", "disc.webp", "cmyk.jpg",
    ]

    static func path(_ input: String) async throws -> String {
        let parts = input.split(separator: ".").map(String.init)
        switch parts[0] {
        case "progressive": return try await Pictures.progressiveJPEG()
        case "interlaced": return try await Pictures.interlacedPNG()
        case "grey": return try await Pictures.grey(parts[1])
        case "sixteen": return try await Pictures.sixteenBit(parts[1])
        case "disc": return try await Pictures.disc(parts[1])
        case "cmyk": return try await Pictures.cmyk(withProfile: .embedded)
        default: return try await Pictures.photo(parts[1])
        }
    }

    @Test(arguments: TestLength.few(inputs, 3, whole: 8))
    func everyInputBecomesEveryOutput(_ input: String) async throws {
        let formats = Rendition.Format.allCases
        let renditions = formats.map { Rendition(width: 96, height: 96, format: $0) }
        let picture = try await Renderers.shared.get()
            .render(renditions, of: OpenFile(reading: Self.path(input)), named: input)
        for (index, rendition) in picture.renditions.enumerated() {
            let specimen = try await Specimen(rendition)
            let written = formats[index].written(for: picture.source.format)
            #expect(specimen.header["vips-loader"] == "\(written == .avif ? "heif" : written.rawValue)load")
            #expect(specimen.edges == [96, 64])
            #expect(rendition.edges == [96, 64])
            #expect(rendition.format == written)
            #expect(specimen.summary.contains("uchar"))
        }
    }

    @Test(
        arguments: TestLength.few(
            [
                ("photo.jpg", "jpeg", false), ("photo.png", "png", false), ("photo.gif", "gif", false),
                ("photo.webp", "webp", false), ("photo.tif", "tiff", false), ("photo.heic", "heif", false),
                ("photo.avif", "avif", false), ("disc.png", "png", true),
            ],
            3
        )
    )
    func sourceFactsSayWhatItIs(_ input: String, format: String, hasAlpha: Bool) async throws {
        let picture = try await render(Rendition(width: 32), of: Self.path(input))
        #expect(picture.source.format.rawValue == format)
        #expect(picture.source.hasAlpha == hasAlpha)
        #expect(picture.source.pages == 1)
        let edges = hasAlpha ? [240, 160] : [960, 640]
        #expect(picture.source.edges == edges)
        #expect(picture.rendererVersion.hasPrefix("cameo-6 libvips-8."))
    }

    @Test func onlyTheFirstPageIsRendered() async throws {
        let gif = try await Pictures.animation("gif")
        let picture = try await render(Rendition(width: 40, format: .png), of: gif)
        #expect(picture.source.pages == 3)
        #expect(picture.source.edges == [80, 60])
        #expect(picture.renditions[0].edges == [40, 30])
    }

    /// The file offset is at the end, as for a downloaded source.
    @Test func sealedMemoryFileIsASource() async throws {
        let bytes = try Data(contentsOf: URL(filePath: await Pictures.photo("jpg")))
        let source = try OpenFile.memory(containing: bytes)
        for _ in 0..<2 {
            let picture = try await Renderers.shared.get().render([Rendition(width: 96)], of: source, named: "memory")
            #expect(picture.renditions[0].edges == [96, 64])
        }
    }

    @Test func qualityIsObeyed() async throws {
        let renditions = [20, 60, 95].map { Rendition(width: 300, format: .jpeg, quality: $0) }
        let picture = try await Renderers.shared.get()
            .render(renditions, of: OpenFile(reading: Pictures.photo("png")), named: "photo")
        let sizes = picture.renditions.map(\.bytes.count)
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }

    @Test(arguments: ["jpg", "png", "webp", "tif"])
    func theSameJobGivesTheSameBytes(_ ending: String) async throws {
        let path = try await Pictures.photo(ending)
        let renditions = Rendition.Format.allCases.map { Rendition(width: 128, height: 100, fit: .cover, format: $0) }
        var results: [[Data]] = []
        for _ in 0..<2 {
            let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
            results.append(picture.renditions.map(\.bytes))
        }
        #expect(results[0] == results[1])
    }
}
