import CameoModel
import Testing

/// Mistakes of programs that build the values themselves, and rules that a schema cannot express.
@Suite(.timeLimit(.minutes(10)))
struct RenditionValidationTests {
    private func refusal(of rendition: Rendition) throws -> InvalidRequest {
        try #require(throws: InvalidRequest.self) { try rendition.validate(at: "r") }
    }

    @Test(arguments: [Int.max, Int.min, 0, 16_384])
    func edgeOutOfRangeIsRefusedBeforeItIsMultiplied(edge: Int) throws {
        for keyPath in [\Rendition.width, \Rendition.height] as [WritableKeyPath<Rendition, Int?> & Sendable] {
            var rendition = Rendition(width: 1, height: 1)
            rendition.dpr = 8
            rendition[keyPath: keyPath] = edge
            #expect(try refusal(of: rendition).reason == "must be between 1 and 16383, not \(edge)")
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 0, 8.01])
    func nonFiniteOrOutOfRangeNumberIsRefused(number: Double) throws {
        var rendition = Rendition(width: 1)
        rendition.dpr = number
        #expect(try refusal(of: rendition).path == "r.dpr")
        for field in [\Rendition.Look.blur, \Rendition.Look.sharpen] as [WritableKeyPath<Rendition.Look, Double?>] {
            rendition = Rendition(width: 1)
            rendition.look[keyPath: field] = number * 100
            #expect(throws: InvalidRequest.self) { try rendition.validate(at: "r") }
        }
        rendition = Rendition(width: 1)
        rendition.crop = Rendition.CropArea(left: 0, top: 0, width: number - 0.01, height: 1, unit: .fraction)
        #expect(try refusal(of: rendition).path == "r.crop.width")
    }

    @Test func boxTimesDensityHasTheLimitOfABox() throws {
        var rendition = Rendition(width: 8_191)
        rendition.dpr = 2
        try rendition.validate(at: "r")
        #expect(rendition.boxWidth == 16_382)
        rendition.width = 8_192
        #expect(try refusal(of: rendition).path == "r.dpr")
        rendition = Rendition(height: 1)
        rendition.dpr = 0.1
        #expect(rendition.boxHeight == 1)
        rendition.height = 25
        #expect(rendition.boxHeight == 3)
    }

    @Test func fractionalCropEndsWithThePicture() throws {
        var rendition = Rendition(width: 1)
        rendition.crop = Rendition.CropArea(left: 1 / 3, top: 0.7, width: 2 / 3, height: 0.3, unit: .fraction)
        try rendition.validate(at: "r")
        rendition.crop?.width = 0.67
        #expect(try refusal(of: rendition).path == "r.crop")
        rendition.crop = Rendition.CropArea(left: 0, top: 0.71, width: 1, height: 0.3, unit: .fraction)
        #expect(try refusal(of: rendition).path == "r.crop")
    }

    @Test func overlaysOfARequestAreLimitedByTheirNumberOfSources() throws {
        func request(_ sources: [Int]) -> ThumbnailRequest {
            let renditions = sources.enumerated().map { index, source in
                var rendition = Rendition(width: index + 1)
                rendition.look.overlay = Rendition.Overlay(source: "data:,\(source)")
                return rendition
            }
            return ThumbnailRequest(source: "data:,", renditions: renditions)
        }
        try request(Array(0..<8) + Array(0..<8)).validate()
        let error = try #require(throws: InvalidRequest.self) { try request(Array(0..<9)).validate() }
        #expect(error.description == "renditions: have 9 different overlays, more than 8")
        #expect(request([1, 2, 1, 3]).overlaySources == ["data:,1", "data:,2", "data:,3"])
    }

    @Test func malformedOverlayDataIsRefusedByField() throws {
        var rendition = Rendition(width: 1)
        rendition.look.overlay = Rendition.Overlay(source: "data:;base64,A")
        #expect(try refusal(of: rendition).path == "r.overlay.source")
    }
}
