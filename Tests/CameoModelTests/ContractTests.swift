import CameoModel
import Foundation
import TestSupport
import Testing

/// The words and numbers of the schemas and of `proto-json/README.md` are those of the code.
@Suite(.timeLimit(.minutes(1)))
struct ContractTests {
    @Test func schemaListsTheWordsOfTheCode() throws {
        let rendition = try #require(try schema("thumbnail-request")["$defs", "rendition", "properties"])
        #expect(words(rendition["fit", "enum"]) == Rendition.Fit.allCases.map(\.rawValue))
        #expect(words(rendition["gravity", "enum"]) == Rendition.Gravity.allCases.map(\.rawValue))
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
        let finalStates = JobState.allCases.filter(\.isFinal).map(\.rawValue)
        #expect(words(job["allOf", "0", "if", "properties", "state", "enum"]) == finalStates)
        let counts = try #require(try schema("status-report")["$defs", "counts"])
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
        #expect(fields["headers", "maxProperties"] == .integer(Int64(ThumbnailRequest.maximumHeaders)))
        #expect(fields["source", "else", "maxLength"] == .integer(Int64(ThumbnailRequest.maximumSourceBytes)))
        #expect(fields["queue", "default"] == .string(ThumbnailRequest.defaultQueue))
        #expect(fields["maxAttempts", "default"] == .integer(Int64(ThumbnailRequest.defaultMaxAttempts)))
        let rendition = try #require(request["$defs", "rendition", "properties"])
        for edge in ["width", "height"] { #expect(range(rendition[edge]) == limits(Rendition.edgeRange)) }
        #expect(range(rendition["quality"]) == limits(Rendition.qualityRange))
    }

    @Test func defaultsInTheSchemaAreLeftOutOfTheWireForm() throws {
        let request = try schema("thumbnail-request")
        var members = defaults(request["properties"])
        members["source"] = .string("https://pictures.example/cat.jpg")
        var rendition = defaults(request["$defs", "rendition", "properties"])
        #expect(rendition.count == 4)
        rendition["width"] = .integer(1)
        members["renditions"] = .array([.object(rendition)])
        let spelled = try ThumbnailRequest(json: .object(members))
        members = ["source": .string(spelled.source), "renditions": .array([.object(["width": .integer(1)])])]
        #expect(spelled.json == .object(members))
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
