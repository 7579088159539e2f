import CameoModel
import CommandSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Variables of the environment that begin with CAMEO_.
    @Suite(.timeLimit(.minutes(10)))
    struct VariableTests {
        private static let misspelt = ["CAMEO_FETCH_CONCURENCY": "4", "CAMEO_SPEED": "11", "CAMEO_GRACE": "1m"]

        private static let warnings = [
            "the environment's CAMEO_FETCH_CONCURENCY has no effect: there is no such variable; "
                + "is CAMEO_FETCH_CONCURRENCY meant?",
            "the environment's CAMEO_SPEED has no effect: there is no such variable",
        ]

        @Test func everyOptionOfTheWorkerHasItsVariable() async throws {
            let help = try #require(try await CommandHelp.all(of: "cameo-worker").first?.help)
            let options = help.options.map(\.name).filter { !["--help", "--version"].contains($0) }
            let variables = options.map { "CAMEO_" + $0.dropFirst(2).uppercased().replacing("-", with: "_") }
            #expect(variables.count > 40)
            #expect((variables + ["CAMEO_PRESETS"]).sorted() == CameoVariables.documented.sorted())
        }

        /// Pages, samples and scripts, and what programs and tests ask the environment for.
        @Test func everyVariableThatIsWrittenOfIsKnown() throws {
            // What ends so is the beginning of many; the last is a constant of C.
            let others: Set = ["CAMEO_", "CAMEO_TEST_", "CAMEO_MAXIMUM_DESCRIPTORS"]
            var found: Set<String> = []
            for folder in ["README.md", "proto-json", "deploy", "Sources"] {
                for file in try files(below: folder) where !["h", "c"].contains(file.pathExtension) {
                    guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                    found.formUnion(text.matches(of: #/\bCAMEO_[A-Z_]*/#).map { String($0.output) })
                }
            }
            #expect(found.isSuperset(of: ["CAMEO_STORE", "CAMEO_GRACE", "CAMEO_PRESETS", "CAMEO_TEST_LEASE_MS"]))
            for name in found.subtracting(others) { #expect(CameoVariables.isKnown(name), "\(name)") }
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
            let messages = try result.errorText.split(separator: "\n").compactMap { line -> String? in
                guard case .object(let members) = try JSONValue(parsing: String(line)),
                    members["level"] == .string("warning"), case .string(let message)? = members["message"]
                else { return nil }
                return message
            }
            #expect(messages.filter { $0.contains("CAMEO_") } == Self.warnings)
        }

        @Test func aCheckNamesWhatIsMisspeltAndIsSound() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            for arguments in [["check"], ["check", "--json"]] {
                let result = try await deployment.command("cameo-admin", arguments, environment: Self.misspelt)
                #expect(result.exitStatus == 0 && !result.outputText.contains("CAMEO_"))
                #expect(result.errorText == Self.warnings.map { "cameo-admin: \($0)\n" }.joined())
            }
            let known = try await deployment.command(
                "cameo-admin",
                ["check"],
                environment: ["CAMEO_GRACE": "1m", "CAMEO_PRESETS": "none.json", "CAMEO_TEST_ANYTHING": "1"]
            )
            #expect(known.errorText.isEmpty, "\(known.errorText)")
        }
    }
}
