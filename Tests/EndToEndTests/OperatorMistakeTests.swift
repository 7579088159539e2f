import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// An operator's mistakes are refused with the option's name and its limits, and change nothing.
    @Suite(.timeLimit(.minutes(10)))
    struct OperatorMistakeTests {
        @Test(
            arguments: TestLength.few(
                [
                    ("cameo-enqueue", [""], 2, "a SOURCE is empty"),
                    ("cameo-enqueue", ["--store", "", "photo.jpg"], 2, "--store: must name a folder"),
                    ("cameo-enqueue", ["--store", "file", "data:,"], 4, "file cannot be opened: Not a directory"),
                    ("cameo-enqueue", ["photo.jpg", "--in", "-5m"], 2, "'-5m'"),
                    ("cameo-status", ["--store", ""], 2, "--store: must name a folder"),
                    ("cameo-status", ["--store", "file"], 4, "file cannot be opened: Not a directory"),
                    ("cameo-status", ["jobs", "--limit", "-1"], 2, "--limit -1: must be at least 1"),
                    ("cameo-admin", ["backup", "."], 2, "it already exists"),
                    ("cameo-admin", ["backup", "store/copy"], 2, "inside the store itself"),
                    (
                        "cameo-admin", ["limit", "--key", "", "--max-running", "1"], 2,
                        "--key: must be 1 to 200 characters"
                    ),
                    (
                        "cameo-admin", ["limit", "--key", "a\nb", "--max-running", "none"], 2,
                        "--key: must be 1 to 200 characters"
                    ),
                    (
                        "cameo-admin", ["limit", "--key", "k", "--max-running", "-1"], 2,
                        "-1: must be between 1 and 10000"
                    ),
                    ("cameo-admin", ["limit", "--key", "k", "--max-running", "10001"], 2, "between 1 and 10000"),
                    (
                        "cameo-admin", ["queue", "default", "--max-running", "-1"], 2,
                        "--max-running -1: must be at least 1"
                    ),
                    ("cameo-admin", ["queue", "default", "--rate", "0/s"], 2, "'0/s'"),
                    ("cameo-admin", ["queue", "--rate", "1/s"], 2, "need a queue's name"),
                    ("cameo-admin", ["limit", "--key", "k", "--rate", "-1/s"], 2, "'-1/s'"),
                    ("cameo-admin", ["queue", "--hook", "site"], 2, "need a queue's name"),
                    ("cameo-admin", ["queue", "default", "--hook", "a/b"], 2, "--hook a/b: must be 1 to 64"),
                    ("cameo-status", ["hooks", "--failures", "-1"], 2, "--failures -1: must not be negative"),
                    ("cameo-admin", ["limit", "--rate", "1/s"], 2, "need --key"),
                    ("cameo-admin", ["snooze", "1", "--for", "-1m"], 2, "'-1m'"),
                    ("cameo-admin", ["worker", "stop", "w1", "w2"], 1, "there is no worker w2"),
                ] as [(String, [String], Int32, String)],
                8
            )
        )
        func isNamedAndChangesNothing(
            program: String,
            arguments: [String],
            status: Int32,
            message: String
        ) async throws {
            let deployment = try Deployment()
            try Data().write(to: URL(filePath: deployment.folder.path("file")))
            _ = try await deployment.enqueue("photo.jpg")
            let before = try FileManager.default.contentsOfDirectory(atPath: deployment.folder.path("."))
            let result = try await deployment.command(program, arguments)
            #expect(result.exitStatus == status, "\(result.errorText)")
            #expect(result.errorText.contains(message), "\(result.errorText)")
            #expect(result.outputText.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: deployment.folder.path(".")) == before)
            #expect(try await deployment.status().count(.available) == 1)
            #expect(try await (SQLiteStore(reading: deployment.store) as any Store).concurrencyLimits().isEmpty)
        }

        @Test func toTakeAwayALimitThatIsNotThereSaysSo() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("photo.jpg")
            let arguments = ["limit", "--key", "shop", "--max-running", "none"]
            let none = try await deployment.command("cameo-admin", arguments)
            #expect((none.exitStatus, none.outputText) == (0, "key shop had no operator's limit\n"))
            _ = try await deployment.command("cameo-admin", ["limit", "--key", "shop", "--max-running", "2"])
            let taken = try await deployment.command("cameo-admin", arguments)
            #expect(taken.outputText == "key shop runs without an operator's limit\n")
        }
    }
}
