import CameoModel
import Testing

@testable import CameoReport

/// The options of a rendition, in words.
@Suite(.timeLimit(.minutes(10)))
struct RenditionTextTests {
    @Test func onlyWhatDiffersFromTheDefaultIsNamedTheBoxFirst() {
        var rendition = Rendition(width: 64, height: 32, fit: .cover, format: .png)
        rendition.name = "any"
        #expect(RenditionText.options(of: rendition) == "width 64, height 32, fit cover, format png")
        #expect(RenditionText.options(of: Rendition(width: 64)) == "width 64")
    }

    @Test func longValuesAreTruncated() {
        var rendition = Rendition(width: 64)
        let source = "data:image/png;base64," + String(repeating: "A", count: 500)
        rendition.look.overlay = Rendition.Overlay(source: source)
        let text = RenditionText.options(of: rendition)
        #expect(text.hasPrefix("width 64, overlay "))
        #expect(text.hasSuffix("…") && text.count < 90, "\(text)")
    }
}
