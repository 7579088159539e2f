import CameoModel
import Foundation
import TestSupport
import Testing

/// Compares the Swift reader and the schema on the same requests.
enum SchemaAgreement {
    static func rendition(_ fields: String) -> String {
        #"{"source":"https://pictures.example/cat.jpg","renditions":[{\#(fields)}]}"#
    }

    static func expectAccepted(_ texts: [String]) async throws {
        for text in texts {
            #expect(throws: Never.self, "\(text.prefix(300))") { try ThumbnailRequest(parsing: text.utf8) }
        }
        let refused = try await linesThatTheSchemaRefuses(texts)
        #expect(refused.sorted().map { texts[$0 - 1].prefix(300) } == [])
    }

    static func expectRefused(_ texts: [String]) async throws {
        for text in texts {
            #expect(throws: InvalidRequest.self, "\(text.prefix(300))") { try ThumbnailRequest(parsing: text.utf8) }
        }
        let refused = try await linesThatTheSchemaRefuses(texts)
        let missed = texts.indices.filter { !refused.contains($0 + 1) }
        #expect(missed.map { texts[$0].prefix(300) } == [])
    }

    /// The numbers of refused lines, from 1.
    static func linesThatTheSchemaRefuses(_ texts: [String]) async throws -> Set<Int> {
        let input = Data(texts.map { $0 + "\n" }.joined().utf8)
        let result = try await run("/usr/bin/python3", [SchemaTests.script, "thumbnail-request"], input: input)
        #expect(result.exitStatus < 2, "\(result.errorText)")
        let numbers = result.outputText.matches(of: #/(?m)^refused line ([0-9]+):/#).compactMap { Int($0.output.1) }
        return Set(numbers)
    }
}
