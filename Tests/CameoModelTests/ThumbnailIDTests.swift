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
            #expect("cameo://thumb/\(BlobDigest(of: Data(text.utf8)).hex.prefix(32))" == uri)
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
        let renditions = [
            Rendition(width: 64), Rendition(height: 64), Rendition(width: 64, height: 64), Rendition(width: 65),
            Rendition(width: 64, fit: .cover), Rendition(width: 64, withoutEnlargement: false),
            Rendition(width: 64, gravity: .north), Rendition(width: 64, format: .webp),
            Rendition(width: 64, quality: 80), Rendition(width: 64, background: .white),
            Rendition(width: 64, background: .transparent),
        ]
        let request = ThumbnailRequest(source: "https://pictures.example/cat.jpg", renditions: renditions)
        #expect(Set(try request.thumbnailIDs()).count == renditions.count)
    }

    @Test(arguments: ["", "0123456789abcdef0123456789abcde", "0123456789ABCDEF0123456789ABCDEF"])
    func idIsThirtyTwoLowercaseDigits(text: String) {
        #expect(ThumbnailID(text) == nil)
        #expect(ThumbnailID("0123456789abcdef0123456789abcdef")?.text == "0123456789abcdef0123456789abcdef")
    }
}
