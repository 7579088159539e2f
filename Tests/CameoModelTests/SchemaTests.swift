import CameoModel
import Foundation
import TestSupport
import Testing

/// Checks the schemas with an independent validator: Debian's python3-jsonschema, through `validate.py`.
@Suite(.timeLimit(.minutes(10)))
struct SchemaTests {
    static let script = Repository.file("Tests/CameoModelTests/validate.py").path(percentEncoded: false)

    @Test func everySchemaIsValid() async throws {
        let result = try await run("/usr/bin/python3", [Self.script])
        #expect(result.exitStatus == 0, "\(result.errorText)")
        #expect(result.outputText == "\(Example.messages.count) schemas are valid\n")
    }

    @Test(arguments: TestLength.few(Example.messages, 3))
    func schemaAcceptsEveryValidExample(message: String) async throws {
        let verdicts = try await verdicts(message, Example.valid(message))
        #expect(verdicts.allSatisfy { $0.hasPrefix("ok ") }, "\(verdicts)")
    }

    @Test(arguments: TestLength.few(Example.messages, 3))
    func schemaRefusesEveryRefusedExampleThatItCanSee(message: String) async throws {
        let reasons = try Example.reasons(message)
        let examples = Example.refused(message)
        for (example, verdict) in zip(examples, try await verdicts(message, examples)) {
            let expected = try #require(reasons[example.name]).bySchema ? "refused " : "ok "
            #expect(verdict.hasPrefix(expected), "\(verdict)")
        }
    }

    @Test func validatorReportsTheLineThatIsWrong() async throws {
        let lines = #"""
            {"code":"source.notFound","stage":"fetch","message":"m","isRetryable":false}
            {"code":"source.notFound","stage":"fetch","message":"m"}

            """#
        let result = try await run("/usr/bin/python3", [Self.script, "job-failure"], input: Data(lines.utf8))
        #expect(result.exitStatus == 1)
        #expect(result.outputText.contains("refused line 2: $: 'isRetryable' is a required property"))
        #expect(!result.outputText.contains("line 1"))
    }

    @Test func validatorRefusesToPassNothing() async throws {
        #expect(try await run("/usr/bin/python3", [Self.script, "job"], input: Data("\n".utf8)).exitStatus == 1)
        #expect(try await run("/usr/bin/python3", [Self.script, "jbo"], input: Data("{}".utf8)).exitStatus == 2)
    }

    /// One line per example, in order.
    private func verdicts(_ message: String, _ examples: [Example]) async throws -> [String] {
        let files = examples.map { $0.url.path(percentEncoded: false) }
        let result = try await run("/usr/bin/python3", [Self.script, "--files", message] + files)
        #expect(result.exitStatus < 2, "\(result.errorText)")
        let lines = result.outputText.split(separator: "\n").map(String.init)
        #expect(lines.count == examples.count)
        return lines
    }
}
