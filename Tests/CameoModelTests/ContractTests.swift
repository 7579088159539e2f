import CameoModel
import Foundation
import TestSupport
import Testing

/// The words and numbers of the schemas and of `proto-json/README.md` are those of the code.
@Suite(.timeLimit(.minutes(10)))
struct ContractTests {
    @Test func schemaListsTheWordsOfTheCode() throws {
        let rendition = try #require(try schema("thumbnail-request")["$defs", "rendition", "properties"])
        #expect(words(rendition["fit", "enum"]) == Rendition.Fit.allCases.map(\.rawValue))
        let places = Rendition.Gravity.words.compactMap(\.word)
        #expect(words(rendition["gravity", "oneOf", "0", "enum"]) == places)
        let overlayPlaces = Rendition.Gravity.words.filter { !$0.isSmart }.compactMap(\.word)
        let request = try schema("thumbnail-request")
        let overlay = try #require(request["$defs", "overlay", "properties"])
        #expect(words(overlay["gravity", "oneOf", "0", "enum"]) == overlayPlaces)
        #expect(
            rendition["rotate", "enum"]?.elements == Rendition.Rotation.allCases.map { .integer(Int64($0.rawValue)) }
        )
        #expect(words(rendition["flip", "enum"]) == Rendition.Flip.allCases.map(\.rawValue))
        #expect(words(rendition["corners", "items", "enum"]) == Rendition.Look.Corner.allCases.map(\.rawValue))
        let subsampling = Rendition.Encoding.ChromaSubsampling.allCases.map(\.rawValue)
        #expect(words(rendition["chromaSubsampling", "enum"]) == subsampling)
        #expect(words(rendition["keep", "items", "enum"]) == Rendition.Encoding.Metadata.allCases.map(\.rawValue))
        let units = Rendition.CropArea.Unit.allCases.map(\.rawValue)
        #expect(words(request["$defs", "cropArea", "properties", "unit", "enum"]) == units)
        #expect(words(rendition["format", "enum"]) == Rendition.Format.allCases.map(\.rawValue))
        let failure = try schema("job-failure")
        #expect(words(failure["properties", "code", "enum"]) == JobFailure.Code.allCases.map(\.rawValue))
        #expect(words(failure["properties", "stage", "enum"]) == JobFailure.Stage.allCases.map(\.rawValue))
        let job = try schema("job")
        let states = JobState.allCases.map(\.rawValue)
        #expect(words(job["$defs", "state", "enum"]) == states)
        #expect(
            words(job["$defs", "attempt", "properties", "outcome", "enum"])
                == JobAttempt.Outcome.allCases.map(\.rawValue)
        )
        let video = try #require(job["$defs", "video", "properties"])
        #expect(words(video["codec", "enum"]) == VideoFacts.Codec.allCases.map(\.rawValue))
        #expect(words(video["cover", "enum"]) == VideoFacts.Cover.allCases.map(\.rawValue))
        let finalStates = JobState.allCases.filter(\.isFinal).map(\.rawValue)
        #expect(words(job["allOf", "0", "if", "properties", "state", "enum"]) == finalStates)
        let status = try schema("status-report")
        let stops = status["$defs", "worker", "properties", "stopping", "enum"]
        #expect(words(stops) == WorkerStop.allCases.map(\.rawValue))
        let counts = try #require(status["$defs", "counts"])
        #expect(words(counts["required"]) == states)
        #expect(Set(try #require(counts["properties"]).members.keys) == Set(states))
    }

    @Test func schemaHasTheLimitsOfTheCode() throws {
        let request = try schema("thumbnail-request")
        let fields = try #require(request["properties"])
        #expect(range(fields["priority"]) == limits(ThumbnailRequest.priorityRange))
        #expect(range(fields["maxAttempts"]) == limits(ThumbnailRequest.attemptsRange))
        #expect(range(fields["timeout"]) == [.integer(1), .integer(3_600)])
        #expect(fields["renditions", "maxItems"] == .integer(Int64(ThumbnailRequest.maximumRenditions)))
        #expect(fields["labels", "maxItems"] == .integer(Int64(ThumbnailRequest.maximumLabels)))
        #expect(fields["headers", "maxProperties"] == .integer(Int64(ThumbnailRequest.maximumHeaders)))
        let lengths = request["$defs", "source", "anyOf"]?.elements.compactMap { $0["maxLength"] }
        #expect(lengths == [.integer(Int64(ThumbnailRequest.maximumSourceBytes))])
        #expect(fields["queue", "default"] == .string(ThumbnailRequest.defaultQueue))
        #expect(fields["maxAttempts", "default"] == .integer(Int64(ThumbnailRequest.defaultMaxAttempts)))
        let rendition = try #require(request["$defs", "rendition", "properties"])
        #expect(range(rendition["width"]) == limits(Rendition.edgeRange))
        let storyboard = try #require(rendition["storyboard", "properties"])
        for side in ["columns", "rows"] { #expect(range(storyboard[side]) == limits(Rendition.Storyboard.sideRange)) }
        let intervals = Rendition.Storyboard.intervalRange
        #expect(range(storyboard["interval"]).map(\.?.double) == [intervals.lowerBound, intervals.upperBound])
        let radius = try #require(rendition["cornerRadius", "oneOf"])
        #expect(range(radius["0"]) == limits(Rendition.Look.cornerRadiusRange))
        let fraction = range(radius["1", "properties", "fraction"]).map(\.?.double)
        let fractionRange = Rendition.Look.cornerFractionRange
        #expect(fraction == [fractionRange.lowerBound, fractionRange.upperBound])
        let overlay = try #require(request["$defs", "overlay", "properties"])
        #expect(range(overlay["margin"]) == limits(Rendition.Overlay.marginRange))
        for (field, numbers) in [("opacity", Rendition.Overlay.opacityRange), ("scale", Rendition.Overlay.scaleRange)] {
            #expect(range(overlay[field]).map(\.?.double) == [numbers.lowerBound, numbers.upperBound], "\(field)")
        }
        let presets = try schema("presets")
        let preset = try #require(presets["$defs", "preset", "properties"])
        #expect(preset["renditions", "maxItems"] == .integer(Int64(ThumbnailRequest.maximumRenditions)))
        #expect(preset["description", "maxLength"] == .integer(Int64(PresetFile.maximumDescription)))
    }

    @Test func schemaHasTheFieldsOfTheCode() throws {
        let request = try schema("thumbnail-request")
        for (name, fields) in [
            ("rendition", Rendition.fields), ("overlay", Rendition.Overlay.fields),
            ("cropArea", Rendition.CropArea.fields),
        ] {
            let properties = try #require(request["$defs", name, "properties"]).members.keys
            #expect(properties.sorted() == fields.sorted())
        }
    }

    @Test func defaultsInTheSchemaAreLeftOutOfTheWireForm() throws {
        let request = try schema("thumbnail-request")
        var members = defaults(request["properties"])
        members["source"] = .string("https://pictures.example/cat.jpg")
        var rendition = defaults(request["$defs", "rendition", "properties"])
        #expect(rendition.count > 20)
        let parts = try #require(request["$defs"])
        var crop = defaults(parts["cropArea", "properties"])
        crop.merge(["width": .integer(1), "height": .integer(1)]) { $1 }
        var overlay = defaults(parts["overlay", "properties"])
        overlay["source"] = .string("data:,")
        rendition.merge(["width": .integer(1), "crop": .object(crop), "overlay": .object(overlay)]) { $1 }
        members["renditions"] = .array([.object(rendition)])
        let spelled = try ThumbnailRequest(json: .object(members))
        let bare: JSONValue = .object([
            "width": .integer(1),
            "crop": .object(["width": .integer(1), "height": .integer(1)]),
            "overlay": .object(["source": .string("data:,")]),
        ])
        members = ["source": .string(spelled.source), "renditions": .array([bare])]
        #expect(spelled.json.canonicalText == JSONValue.object(members).canonicalText)
        #expect(try ThumbnailRequest(json: .object(members)) == spelled)
    }

    @Test func readmeListsEveryFailureCode() throws {
        let readme = try String(contentsOf: Repository.file("proto-json/README.md"), encoding: .utf8)
        let failures = try #require(readme.range(of: "## Failures"))
        let rows = readme[failures.upperBound...].matches(
            of: #/(?m)^\| `([A-Za-z.]+)` \| [^|]+ \| (yes|no|depends)[^|]* \|$/#
        )
        let codes = rows.map { String($0.output.1) }
        #expect(codes == JobFailure.Code.allCases.map(\.rawValue))
        for (row, code) in zip(rows, JobFailure.Code.allCases) where row.output.2 != "depends" {
            #expect((row.output.2 == "yes") == code.isRetryable, "\(code.rawValue)")
        }
    }

    private func schema(_ message: String) throws -> JSONValue {
        try JSONValue(parsing: Data(contentsOf: Repository.file("proto-json/\(message).schema.json")))
    }

    private func words(_ value: JSONValue?) -> [String] { value?.elements.compactMap(\.text) ?? [] }

    private func range(_ field: JSONValue?) -> [JSONValue?] { [field?["minimum"], field?["maximum"]] }

    private func limits(_ range: ClosedRange<Int>) -> [JSONValue?] {
        [.integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound))]
    }

    private func defaults(_ fields: JSONValue?) -> [String: JSONValue] {
        fields?.members.compactMapValues { $0["default"] } ?? [:]
    }
}
