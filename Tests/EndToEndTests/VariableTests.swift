import CameoModel
import CommandSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Environment variables that begin with CAMEO_.
    @Suite(.timeLimit(.minutes(10)))
    struct VariableTests {
        private static let misspelt = ["CAMEO_FETCH_CONCURENCY": "4", "CAMEO_SPEED": "11", "CAMEO_GRACE": "1m"]

        private static let warnings = [
            "the environment variable CAMEO_FETCH_CONCURENCY has no effect: no option has this name",
            "the environment variable CAMEO_SPEED has no effect: no option has this name",
        ]

        /// The names as the help implies them.
        private static func options() async throws -> [String] {
            let help = try #require(try await CommandHelp.all(of: "cameo-worker").first?.help)
            return help.options.map { "CAMEO_" + $0.name.dropFirst(2).uppercased().replacing("-", with: "_") }
        }

        /// Variables in pages, samples and scripts, and those that programs and tests read.
        @Test func everyVariableThatIsWrittenOfIsKnown() async throws {
            // Prefixes of many variables; the last is a constant of C.
            let others: Set = ["CAMEO_", "CAMEO_TEST_", "CAMEO_MAXIMUM_DESCRIPTORS"]
            var found: Set<String> = []
            for folder in ["README.md", "proto-json", "deploy", "Sources", "Tests/Laboratory"] {
                for file in try files(below: folder) where !["h", "c"].contains(file.pathExtension) {
                    guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                    found.formUnion(text.matches(of: #/\bCAMEO_[A-Z_]*/#).map { String($0.output) })
                }
            }
            #expect(found.isSuperset(of: ["CAMEO_STORE", "CAMEO_GRACE", "CAMEO_PRESETS", "CAMEO_TEST_LEASE_MS"]))
            let environment = Dictionary(uniqueKeysWithValues: found.subtracting(others).map { ($0, "1") })
            #expect(CameoVariables.unknown(in: environment, options: try await Self.options()) == [])
        }

        private func files(below path: String) throws -> [URL] {
            let root = Repository.file(path)
            guard let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else {
                return []
            }
            let files = walk.compactMap { $0 as? URL }
            return files.isEmpty ? [root] : files
        }

        @Test func theWorkerNamesWhatIsMisspeltAndWorks() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            _ = try await deployment.enqueue("pictures/photo.jpg")
            var environment = Self.misspelt
            environment["CAMEO_LOG_FORMAT"] = "json"
            let result = try await deployment.command(
                "cameo-worker",
                ["--drain", "--allow-root", deployment.pictures],
                environment: environment
            )
            #expect(result.exitStatus == 0, "\(result.errorText)")
            // CAMEO_GRACE and CAMEO_LOG_FORMAT are options, so there is no warning.
            let messages = try result.errorText.split(separator: "\n").compactMap { line -> String? in
                guard case .object(let members) = try JSONValue(parsing: String(line)),
                    members["level"] == .string("warning"), case .string(let message)? = members["message"]
                else { return nil }
                return message
            }
            #expect(messages.filter { $0.contains("CAMEO_") } == Self.warnings)
        }
    }
}
