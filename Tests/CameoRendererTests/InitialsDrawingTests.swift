import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Letter avatars, drawn by real renderers in their sandbox.
@Suite(.timeLimit(.minutes(10)))
struct InitialsDrawingTests {
    private func picture(
        _ uri: String,
        _ renditions: Rendition...,
        holding kind: SourceKind = .initials,
        in pool: RendererPool? = nil
    ) async throws -> RenderedPicture {
        try await (pool ?? Renderers.shared.get()).render(
            renditions,
            of: OpenFile.memory(containing: Data(uri.utf8)),
            holding: kind,
            named: uri
        )
    }

    private func grid(_ uri: String, edge: Int = 256) async throws -> PixelGrid {
        try await PixelGrid(of: picture(uri, Rendition(width: edge, height: edge, format: .png)).renditions[0])
    }

    /// The inclusive box of all pixels that differ from the background: left, top, right, bottom.
    private func ink(_ grid: PixelGrid) throws -> [Int] {
        let places = grid.places.filter { grid[$0.x, $0.y] != grid[0, 0] }
        return [
            try #require(places.map(\.x).min()), try #require(places.map(\.y).min()),
            try #require(places.map(\.x).max()), try #require(places.map(\.y).max()),
        ]
    }

    @Test(arguments: ["JD", "j", "W", "WW", "ada lovelace", "Ωμέγα", "Ж", "לב", "g", "<&", "É", "2"])
    func inkIsCentredAndAboutHalfAsLargeAsTheSquare(_ name: String) async throws {
        let grid = try await grid("initials:\(PercentEncoding.encoded(name))")
        let (box, edge) = (try ink(grid), 256)
        #expect(abs(box[0] - (edge - 1 - box[2])) <= 3, "\(box)")
        #expect(abs(box[1] - (edge - 1 - box[3])) <= 3, "\(box)")
        let (width, height) = (box[2] - box[0] + 1, box[3] - box[1] + 1)
        #expect(width <= 158 && height <= 120, "\(box)")
        #expect(width >= 145 || height >= 90, "\(box)")
    }

    @Test func differentLettersAreDifferentPictures() async throws {
        var seen: Set<[UInt8]> = []
        for letters in ["A", "B", "Α\u{0392}", "AB", "Ж", "<", "&", ">", "\"", "'"] {
            let uri = "initials:\(PercentEncoding.encoded(letters))?background=%23fff&color=%23000"
            seen.insert(try await grid(uri, edge: 64).bytes)
        }
        // Greek ΑΒ and Latin AB have the same shapes.
        #expect(seen.count >= 9)
    }

    @Test func markupIsDrawnLiterally() async throws {
        let options = "?background=%23ffffff&color=%23000000"
        for name in ["<b", "&l", "<&", "\">"] {
            let box = try ink(try await grid("initials:\(PercentEncoding.encoded(name))\(options)"))
            #expect(box[2] - box[0] > 20, "\(name): \(box)")
        }
        // As an entity it would be one character, and as wide as one.
        let one = try ink(try await grid("initials:%3C\(options)"))
        let two = try ink(try await grid("initials:%26l\(options)"))
        #expect(one != two)
    }

    @Test func colorsAreThoseAskedFor() async throws {
        let grid = try await grid("initials:I?background=%23f5a623&color=%23102030")
        #expect(grid.bands == 3)
        for corner in [(0, 0), (255, 0), (0, 255), (255, 255)] { #expect(grid[corner.0, corner.1] == [245, 166, 35]) }
        #expect(grid[128, 128] == [16, 32, 48])
        let chosen = try Initials(parsing: "initials:I")
        let plain = try await self.grid("initials:I")
        let wanted = [chosen.background.red, chosen.background.green, chosen.background.blue]
        #expect(plain[0, 0] == wanted.map { Int($0) })
        #expect(plain[128, 128] == [255, 255, 255])
    }

    @Test func transparentBackgroundStaysTransparent() async throws {
        let picture = try await picture("initials:I?background=%2300ff0080", Rendition(width: 64, format: .png))
        #expect(picture.source.hasAlpha)
        let grid = try await PixelGrid(of: picture.renditions[0])
        #expect(grid[0, 0] == [0, 255, 0, 128])
        #expect(grid[32, 32] == [0, 0, 0, 255])
    }

    @Test(arguments: [(16, 64), (2_048, 64), (512, 1_000), (16, 2_000)])
    func isDrawnAsLargeAsTheBoxAndSharp(_ size: Int, _ edge: Int) async throws {
        let uri = "initials:I?size=\(size)&background=%23fff&color=%23000"
        let picture = try await picture(uri, Rendition(width: edge, height: edge, format: .png))
        #expect(picture.source.format == .initials)
        #expect(picture.source.edges == [size, size])
        #expect(picture.renditions[0].edges == [edge, edge])
        // Enlarged from 16 pixels, the stem's edges would be blurred over a hundred pixels.
        let grid = try await PixelGrid(of: picture.renditions[0])
        let row = (0..<edge).map { grid[$0, edge / 2][0] }
        #expect(row.filter { (1...254).contains($0) }.count <= 4)
    }

    @Test func everyProcessorAndFormatTakesIt() async throws {
        var round = Rendition(width: 80, height: 80, fit: .cover, format: .webp)
        round.look.cornerRadius = .circle
        let source = Rendition(width: 60, format: .source)
        let wide = Rendition(width: 90, height: 30, fit: .cover, format: .jpeg)
        let picture = try await picture("initials:JD", round, source, wide, Rendition(width: 40, format: .auto))
        try #require(picture.renditions.map(\.edges) == [[80, 80], [60, 60], [90, 30], [40, 40]])
        #expect(picture.renditions.map(\.format) == [.webp, .png, .jpeg, .webp])
        #expect(picture.renditions[0].hasAlpha)
    }

    @Test func canBeAnOverlay() async throws {
        var rendition = Rendition(width: 100, height: 100, format: .png)
        rendition.look.overlay = Rendition.Overlay(source: "initials:B")
        rendition.look.overlay?.scale = 0.5
        let made = try await Renderers.shared.get().render(
            [rendition],
            of: OpenFile.memory(containing: Data("initials:A?background=%23fff".utf8)),
            holding: .initials,
            overlays: [
                (
                    source: "initials:B",
                    file: OpenFile.memory(containing: Data("initials:B?background=%23f00".utf8)),
                    kind: .initials
                )
            ],
            named: "initials:A"
        )
        let grid = try await PixelGrid(of: made.renditions[0])
        #expect(grid[1, 1] == [255, 255, 255])
        #expect(grid[98, 98] == [255, 0, 0])
    }

    @Test func sameInitialsAreTheSameBytesInAnotherProcess() async throws {
        let rendition = Rendition(width: 120, format: .png)
        let first = try await picture("initials:ada%20lovelace", rendition).renditions[0].bytes
        try await Renderers.withPool { pool in
            let canonical = try Initials(parsing: "initials:ada%20lovelace").canonicalText
            for uri in ["initials:Ada%20Lovelace", canonical] {
                #expect(try await picture(uri, rendition, in: pool).renditions[0].bytes == first)
            }
        }
    }

    /// A file must not be drawn as initials, and the worker's initials are never taken for a file.
    @Test func fileThatReadsLikeInitialsIsNotDrawn() async throws {
        let failure = await failure { try await picture("initials:JD", Rendition(width: 64), holding: .file) }
        #expect(failure?.code == .imageUnsupportedFormat)
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
        let refused = await #expect(throws: JobFailure.self) { try await picture(svg, Rendition(width: 64)) }
        #expect(refused?.code == .renderFailed)
    }

    /// A letter that no font here has, assigned by Unicode long ago: Linear A.
    @Test func letterThatNoFontHasIsANamedFailure() async throws {
        let failure = await failure { try await picture("initials:%F0%90%98%80", Rendition(width: 64)) }
        #expect(failure?.code == .renderFailed)
        #expect(failure?.message.contains("no installed font") == true, "\(failure?.message ?? "")")
    }

    /// Drawn or refused with a message, depending on the fonts; never a crash.
    @Test(arguments: ["李", "👩‍👩‍👧‍👦", "🇩🇪", "नमस्ते जी", "محمد علي", "ก็", "a\u{301}\u{302}\u{303}"])
    func anyScriptIsDrawnOrRefusedByName(_ name: String) async throws {
        do {
            let grid = try await grid("initials:\(PercentEncoding.encoded(name))", edge: 64)
            #expect(try ink(grid)[2] > 0)
        } catch let failure as JobFailure {
            #expect(
                failure.code == .renderFailed && failure.message.contains("no installed font"),
                "\(failure.message)"
            )
        }
    }
}
