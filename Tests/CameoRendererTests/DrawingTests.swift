import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// SVG: drawn at the target size, from its own text alone.
@Suite(.timeLimit(.minutes(10)))
struct DrawingTests {
    private func drawing(_ name: String, _ body: String, size: String = "width='24' height='16'") async throws -> String
    {
        let text =
            "<?xml version='1.0'?>\n<!-- a drawing -->\n<svg xmlns='http://www.w3.org/2000/svg' "
            + "xmlns:xlink='http://www.w3.org/1999/xlink' \(size)>\(body)</svg>"
        return try await Pictures.bytes("\(name).svg", Array(text.utf8))
    }

    @Test func isDrawnAtTheBoxSizeAndSharp() async throws {
        let path = try await drawing("half", "<rect width='12' height='16' fill='#ff0000'/>")
        let picture = try await render(Rendition(width: 600, height: 600, format: .png), of: path)
        #expect(picture.source.format == .svg)
        #expect(picture.source.edges == [24, 16])
        #expect(picture.renditions[0].edges == [600, 400])
        let specimen = try await Specimen(picture.renditions[0])
        // Enlarged from 24 pixels, the edge would be blurred over 25 pixels.
        #expect(try await specimen.pixel(298, 200)[3] == 255)
        #expect(try await specimen.pixel(302, 200)[3] == 0)
    }

    @Test(arguments: [Rendition.Fit.cover, .contain, .fill, .outside])
    func everyFitIsExact(_ fit: Rendition.Fit) async throws {
        let path = try await drawing("plain", "<rect width='24' height='16' fill='#00ff00'/>")
        let edges = try await render(Rendition(width: 100, height: 90, fit: fit), of: path).renditions[0].edges
        #expect(edges == (fit == .outside ? [135, 90] : [100, 90]))
    }

    /// The square ends within one pixel of the drawing, which is 21 pixels of the thumbnail.
    @Test(arguments: [4.55, 5.45])
    func bordersOfADrawingAreFoundToThePixel(_ start: Double) async throws {
        let edge = 24 - 2 * start
        let path = try await drawing(
            "square-\(start)",
            "<rect width='24' height='24' fill='white'/><rect x='\(start)' y='\(start)' width='\(edge)' "
                + "height='\(edge)' fill='#ff0000'/><rect x='\(start)' y='\(start)' width='\(edge / 2)' "
                + "height='\(edge)' fill='#0000ff'/>",
            size: "width='24' height='24'"
        )
        var rendition = Rendition(width: 512, height: 512, format: .png)
        rendition.trim = 10
        let specimen = try await Specimen(render(rendition, of: path).renditions[0])
        // A border would be white; blue and red meet in the middle.
        for (x, isBlue) in [(2, true), (252, true), (260, false), (509, false)] {
            let pixel = try await specimen.pixel(x, 256)
            #expect(pixel[isBlue ? 2 : 0] > 200 && pixel[isBlue ? 0 : 2] < 60 && pixel[1] < 60, "\(x): \(pixel)")
        }
    }

    @Test func noOutsideResourceIsLoaded() async throws {
        let secret = try await Pictures.plain(24, 16)
        let bodies = [
            "<image xlink:href='file://\(secret)' width='24' height='16'/>",
            "<image href='\(secret)' width='24' height='16'/>",
            "<style>@import url('file://\(secret)');</style><use href='file://\(secret)#x'/>",
            "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='file://\(secret)' parse='text'/>",
            "<image xlink:href='http://127.0.0.1:9/a.png' width='24' height='16'/>",
        ]
        for (index, body) in bodies.enumerated() {
            let path = try await drawing("outside-\(index)", body)
            let made = try await render(Rendition(width: 24, format: .png), of: path).renditions[0]
            #expect(try await Specimen(made).mean() == 0, "\(body)")
        }
    }

    @Test func externalEntityIsNotLoaded() async throws {
        let secret = try await Pictures.bytes("secret.txt", Array("<rect width='24' height='16'/>".utf8))
        let text =
            "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file://\(secret)'>]>"
            + "<svg xmlns='http://www.w3.org/2000/svg' width='24' height='16'>&x;</svg>"
        let path = try await Pictures.bytes("entity.svg", Array(text.utf8))
        do {
            let made = try await render(Rendition(width: 24, format: .png), of: path).renditions[0]
            #expect(try await Specimen(made).mean() == 0)
        } catch let failure as JobFailure {
            #expect(failure.code == .imageCorrupt)
        }
    }

    @Test func entitiesThatMultiplyAreANamedFailure() async throws {
        var text = "<!DOCTYPE svg [<!ENTITY a0 'aaaaaaaaaa'>"
        for level in 1...12 {
            text += "<!ENTITY a\(level) '" + String(repeating: "&a\(level - 1);", count: 10) + "'>"
        }
        text += "]><svg xmlns='http://www.w3.org/2000/svg' width='24' height='16'><text>&a12;</text></svg>"
        let path = try await Pictures.bytes("laughs.svg", Array(text.utf8))
        let failure = await failure { try await render(Rendition(width: 24), of: path) }
        #expect([.imageCorrupt, .renderOutOfMemory, .renderTimedOut].contains(failure?.code))
    }

    @Test func sizeThatIsClaimedIsLimited() async throws {
        let path = try await drawing("huge", "", size: "width='20000' height='20000'")
        let failure = await failure { try await render(Rendition(width: 24), of: path) }
        #expect(failure?.code == .imageTooManyPixels)
    }

    @Test func textThatIsTooLongIsRefusedUnread() async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.limits.drawingBytes = 500
        let path = try await drawing("long", "<!--" + String(repeating: "x", count: 500) + "-->")
        try await Renderers.withPool(configuration) { pool in
            let failure = await failure { try await pool.render(Rendition(width: 24), of: path) }
            #expect(failure?.code == .imageTooManyPixels)
            #expect(failure?.message.contains("500") == true)
        }
    }

    @Test(arguments: ["jxl", "pdf"])
    func optionalFormatsAreDecodedOnlyWhereAllowed(_ ending: String) async throws {
        let path = try await ending == "jxl" ? Pictures.photo(as: "photo.jxl", by: ["jxlsave"]) : Pictures.document()
        let refusal = await failure { try await render(Rendition(width: 64), of: path) }
        #expect(refusal?.code == .imageUnsupportedFormat)
        #expect(refusal?.message.contains("--allow-format \(ending)") == true)

        var configuration = Renderers.configuration(processes: 1)
        configuration.allowedFormats = [ending == "jxl" ? .jxl : .pdf]
        try await Renderers.withPool(configuration) { pool in
            let picture = try await pool.render(Rendition(width: 64, format: .png), of: path)
            #expect(picture.source.format.rawValue == ending)
            #expect(picture.renditions[0].width == 64)
            // A child that has decoded one is not trusted with another picture.
            #expect(pool.statistics.recycled == 1)
        }
    }

    /// libvips shows the last.
    @Test func anAnimatedJPEGXLShowsItsFirstFrame() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("animated.jxl")
        let script = Repository.file("Tests/TestSupport/cases.py").path(percentEncoded: false)
        #expect(try await run("python3", [script, "animated_jxl", path]).exitStatus == 0)
        var configuration = Renderers.configuration(processes: 1)
        configuration.allowedFormats = [.jxl]
        try await Renderers.withPool(configuration) { pool in
            let picture = try await pool.render(Rendition(width: 160, format: .png), of: path)
            #expect(try await Array(PixelGrid(of: picture.renditions[0])[10, 10].prefix(3)) == [220, 30, 30])
            #expect(picture.source.omitted == [.animation])
        }
    }
}
