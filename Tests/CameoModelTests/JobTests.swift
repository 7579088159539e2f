import CameoModel
import Foundation
import TestSupport
import Testing

/// Compatibility promises to readers of a job's JSON.
@Suite(.timeLimit(.minutes(10)))
struct JobTests {
    private static let attempt = #"{"number":1,"worker":"w","startedAt":"2030-01-31T12:00:00.000Z","outcome":"%"}"#

    @Test func attemptOfANewerVersionStaysReadable() throws {
        let text = Self.attempt.replacing("%", with: "postponed")
        let attempt = try WireFormat.decode(JobAttempt.self, from: Data(text.utf8))
        #expect((attempt.outcome, attempt.number) == (.unknown, 1))
        #expect(String(decoding: try WireFormat.encode(attempt), as: UTF8.self).contains(#""outcome":"unknown""#))
    }

    @Test(arguments: JobAttempt.Outcome.allCases)
    func everyKnownOutcomeKeepsItsWord(outcome: JobAttempt.Outcome) throws {
        let text = Self.attempt.replacing("%", with: outcome.rawValue)
        #expect(try WireFormat.decode(JobAttempt.self, from: Data(text.utf8)).outcome == outcome)
    }

    @Test func outcomeThatIsNoTextIsRefused() {
        let text = Self.attempt.replacing(#""%""#, with: "7")
        #expect(throws: DecodingError.self) { try WireFormat.decode(JobAttempt.self, from: Data(text.utf8)) }
    }

    /// The form that the previous version wrote.
    @Test func thumbnailWithoutFactsStaysReadable() throws {
        let example = try #require(
            Example.valid("job").first { $0.name == "completed-by-an-earlier-version.json" }
        )
        let thumbnail = try #require(try WireFormat.decode(Job.self, from: example.data).thumbnails.first)
        #expect(thumbnail.width == 256)
        #expect(thumbnail.hasAlpha == nil && thumbnail.source == nil && thumbnail.truncated == nil)
    }

    @Test func schemaListsTheFormatsOfTheCode() throws {
        let schema = try JSONValue(parsing: Data(contentsOf: Repository.file("proto-json/job.schema.json")))
        let thumbnail = try #require(schema["$defs", "requestedThumbnail", "properties"])
        let written = Rendition.Format.allCases.filter { $0.mediaType != nil }.map(\.rawValue)
        #expect(thumbnail["format", "enum"]?.elements.compactMap(\.text) == written)
        let read = try #require(schema["$defs", "picture", "properties", "format", "enum"])
        #expect(read.elements.compactMap(\.text) == PictureFormat.allCases.map(\.rawValue))
    }

    @Test func readmeListsEveryFieldOfAThumbnail() throws {
        let schema = try JSONValue(parsing: Data(contentsOf: Repository.file("proto-json/job.schema.json")))
        let fields = try #require(schema["$defs", "requestedThumbnail", "properties"]).members.keys
        let readme = try String(contentsOf: Repository.file("proto-json/README.md"), encoding: .utf8)
        let start = try #require(readme.range(of: "## What is known of a thumbnail\n"))
        let section = readme[start.upperBound...].components(separatedBy: "\n## ")[0]
        let rows = section.matches(of: #/(?m)^\| (`[^|]+) \| /#)
        let named = rows.flatMap { $0.output.1.matches(of: #/`([A-Za-z]+)`/#).map { String($0.output.1) } }
        #expect(named.sorted() == fields.sorted())
    }
}
