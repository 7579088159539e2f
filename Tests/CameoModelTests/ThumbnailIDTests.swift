import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ThumbnailIDTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        let name: String
        let request: JSONValue
        let canonical: [String]
        let uris: [String]

        var testDescription: String { name }

        static let all: [Vector] = {
            let file = Repository.file("proto-json/thumbnail-id-vectors.json")
            guard let json = try? JSONValue(parsing: Data(contentsOf: file)) else { return [] }
            return (json["vectors"]?.elements ?? []).map { vector in
                Vector(
                    name: vector["name"]?.text ?? "",
                    request: vector["request"] ?? .null,
                    canonical: vector["canonical"]?.elements.compactMap(\.text) ?? [],
                    uris: vector["uris"]?.elements.compactMap(\.text) ?? []
                )
            }
        }()
    }

    @Test func thereAreVectors() { #expect(Vector.all.count >= 40) }

    @Test(arguments: Vector.all)
    func swiftComputesTheURIsOfTheVector(vector: Vector) throws {
        let request = try ThumbnailRequest(json: vector.request)
        #expect(try request.thumbnailIDs().map { CameoURI.thumbnail($0).text } == vector.uris)
    }

    @Test(arguments: Vector.all)
    func canonicalTextOfTheVectorHasItsDigest(vector: Vector) throws {
        #expect(vector.canonical.count == vector.uris.count)
        for (text, uri) in zip(vector.canonical, vector.uris) {
            #expect("cameo://thumb/\(SHA256.digest(of: Data(text.utf8)).hex.prefix(32))" == uri)
            #expect(try JSONValue(parsing: text).canonicalText == text)
        }
    }

    @Test(arguments: TestLength.few(Vector.all, 8))
    func pythonReferenceComputesTheURIsOfTheVector(vector: Vector) async throws {
        let script = Repository.file("proto-json/thumbnail_id.py").path(percentEncoded: false)
        let input = Data(vector.request.canonicalText.utf8)
        let result = try await run("/usr/bin/python3", [script], input: input)
        #expect(result.exitStatus == 0, "\(result.errorText)")
        #expect(result.outputText.split(separator: "\n").map(String.init) == vector.uris)
        let canonical = try await run("/usr/bin/python3", [script, "--canonical"], input: input)
        #expect(canonical.outputText.split(separator: "\n").map(String.init) == vector.canonical)
    }

    @Test(arguments: Example.valid("thumbnail-request"))
    func pythonReferenceAgreesOnTheExamples(example: Example) async throws {
        let script = Repository.file("proto-json/thumbnail_id.py").path(percentEncoded: false)
        let result = try await run("/usr/bin/python3", [script], input: try example.data)
        let request = try ThumbnailRequest(parsing: example.data)
        let uris = try request.thumbnailIDs().map { CameoURI.thumbnail($0).text }
        #expect(result.outputText.split(separator: "\n").map(String.init) == uris)
    }

    @Test func differentRenditionsHaveDifferentIDs() throws {
        let renditions =
            [
                Rendition(width: 64), Rendition(height: 64), Rendition(width: 64, height: 64), Rendition(width: 65),
                Rendition(width: 64, fit: .cover), Rendition(width: 64, withoutEnlargement: false),
                Rendition(width: 64, gravity: .north), Rendition(width: 64, format: .webp),
                Rendition(width: 64, quality: 80), Rendition(width: 64, background: .white),
                Rendition(width: 64, background: .transparent),
            ] + Self.fields.map { Self.rendition($0) }
        let request = ThumbnailRequest(source: "https://pictures.example/cat.jpg", renditions: renditions)
        #expect(Set(try request.thumbnailIDs()).count == renditions.count)
    }

    /// One of every newer field, and of fields within fields.
    private static let fields: [@Sendable (inout Rendition) -> Void] = [
        { $0.gravity = .focus(Rendition.FocalPoint(x: 0.5, y: 0.5)) }, { $0.dpr = 2 }, { $0.page = 1 }, { $0.trim = 0 },
        { $0.storyboard = Rendition.Storyboard(columns: 5, rows: 4) },
        { $0.storyboard = Rendition.Storyboard(columns: 4, rows: 5) },
        { $0.storyboard = Rendition.Storyboard(columns: 5, rows: 4, interval: 1) },
        { $0.trim = 1 }, { $0.crop = Rendition.CropArea(left: 0, top: 0, width: 1, height: 1) },
        { $0.crop = Rendition.CropArea(left: 0, top: 0, width: 1, height: 1, unit: .fraction) },
        { $0.crop = Rendition.CropArea(left: 1, top: 0, width: 1, height: 1) },
        { $0.crop = Rendition.CropArea(left: 0, top: 1, width: 1, height: 1) }, { $0.rotate = .quarter },
        { $0.flip = .both }, { $0.look.cornerRadius = .pixels(1) }, { $0.look.cornerRadius = .fraction(0.5) },
        { $0.look.cornerRadius = .circle }, { $0.look.corners = [.topLeft] }, { $0.look.blur = 1 },
        { $0.look.border = 1 }, { $0.look.border = 2 }, { ($0.look.border, $0.look.borderColor) = (1, .white) },
        { $0.encoding.nearLossless = true },
        { $0.look.sharpen = 1 }, { $0.look.grayscale = true }, { $0.look.tint = .white },
        { $0.look.brightness = 0 }, { $0.look.saturation = 0 }, { $0.look.contrast = 0 },
        { $0.look.overlay = Rendition.Overlay(source: "a") }, { $0.look.overlay = Rendition.Overlay(source: "b") },
        { $0.look.overlay = Rendition.Overlay(source: "a", gravity: .center) },
        { $0.look.overlay = Rendition.Overlay(source: "a", opacity: 0) },
        { $0.look.overlay = Rendition.Overlay(source: "a", scale: 1) },
        { $0.look.overlay = Rendition.Overlay(source: "a", margin: 1) }, { $0.encoding.lossless = true },
        { $0.encoding.effort = 1 }, { $0.encoding.progressive = true }, { $0.encoding.chromaSubsampling = .full },
        { $0.encoding.palette = true }, { $0.encoding.maxBytes = 1_000 }, { $0.encoding.animated = true },
        { $0.encoding.keepProfile = true }, { $0.encoding.keep = [.icc] }, { $0.encoding.keep = [.gps] },
    ]

    private static func rendition(_ set: (inout Rendition) -> Void) -> Rendition {
        var rendition = Rendition(width: 64)
        set(&rendition)
        return rendition
    }

    @Test(arguments: ["", "0123456789abcdef0123456789abcde", "0123456789ABCDEF0123456789ABCDEF"])
    func idIsThirtyTwoLowercaseDigits(text: String) {
        #expect(ThumbnailID(text) == nil)
        #expect(ThumbnailID("0123456789abcdef0123456789abcdef")?.text == "0123456789abcdef0123456789abcdef")
    }
}
