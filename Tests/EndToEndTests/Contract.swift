import Foundation
import TestSupport
import Testing

/// Expects each line to satisfy its schema in `proto-json/`, by an independent validator. A schema is named like `job`,
/// a part of one like `status-report#/$defs/queue`.
func expectValid(_ schema: String, _ lines: Data) async throws {
    let script = Repository.file("Tests/CameoModelTests/validate.py").path
    let result = try await run("/usr/bin/python3", [script, schema], input: lines)
    #expect(result.exitStatus == 0, "\(schema): \(result.outputText)\(result.errorText)")
}
