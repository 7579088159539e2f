import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The promises of `proto-json/README.md` to programs with their own tables: the program (`own_tables.py`) is
    /// killed at its first, second, … write to a write-ahead log until it survives, and what is left is checked each
    /// time.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct OwnTablesTests {
        /// A folder with a store and the program's own database, on a disk that kills.
        private struct Program {
            let deployment: Deployment
            let disk: FaultyDisk
            private static let script = Repository.file("Tests/EndToEndTests/Harness/own_tables.py").path

            init() async throws {
                deployment = try Deployment()
                disk = try await FaultyDisk(in: deployment)
                // Creates the store; its job is counted below.
                _ = try await deployment.enqueue("initials:ZZ")
                try await take("prepare")
            }

            @discardableResult
            func take(_ step: String, killing: Bool = false) async throws -> ProcessResult {
                let result = try await run(
                    "/usr/bin/python3",
                    [Self.script, step, deployment.folder.path("own.sqlite"), "\(deployment.store)/cameo.sqlite"],
                    environment: killing ? disk.environment : [:]
                )
                guard killing || result.exitStatus == 0 else { throw CommandFailed(result: result) }
                return result
            }

            /// The number of photos, requests and rows of the outbox.
            func look() async throws -> String {
                try await take("look").outputText.trimmingCharacters(in: .whitespacesAndNewlines)
            }

            /// Repeats the step from the same beginning, killed one write later each time; `after` checks what is left.
            func killAtEachWrite(of step: String, after: () async throws -> Void) async throws {
                let (beginning, folder) = (deployment.folder.path("beginning"), deployment.folder.path)
                try await shell("mkdir \(beginning) && cp -r \(folder)/own.sqlite* \(deployment.store) \(beginning)")
                for write in 0..<200 {
                    try await shell(
                        "rm -rf \(folder)/own.sqlite* \(deployment.store) && cp -r \(beginning)/* \(folder)"
                    )
                    try disk.fail("write KILL -wal", after: write, count: 1)
                    let result = try await take(step, killing: true)
                    try await after()
                    if result.exitStatus == 0 { return }
                    try #require(result.exitStatus == 128 + SIGKILL, "\(result.errorText)")
                }
                Issue.record("\(step) never came to its end")
            }

            /// Queried by separate programs, because this one must not close a file of SQLite's.
            private func shell(_ line: String) async throws {
                let result = try await run("/bin/sh", ["-c", line])
                guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
            }
        }

        /// Photos and jobs, including the job that created the store.
        @Test(arguments: [
            ("attached", ["0 1 0", "1 1 0", "1 2 0"]),
            ("attached-store-first", ["0 1 0", "0 2 0", "1 2 0"]),
            ("inside", ["0 1 0", "1 2 0"]),
        ])
        func aKillTearsACommitOfTwoFilesButNotOfOne(way: String, left: [String]) async throws {
            let program = try await Program()
            var seen: [String] = []
            try await program.killAtEachWrite(of: way) {
                let look = try await program.look()
                if seen.last != look { seen.append(look) }
            }
            #expect(seen == left)
        }

        @Test(arguments: [("move", ["2", "3"]), ("move-once", ["2"])])
        func anOutboxLosesNothingAndIsWorkedOnce(mover: String, jobs: [String]) async throws {
            let program = try await Program()
            try await program.take("outbox")
            #expect(try await program.look() == "1 1 1")
            var seen: Set<String> = []
            try await program.killAtEachWrite(of: mover) {
                try await program.take(mover)
                let look = try await program.look().split(separator: " ").map(String.init)
                #expect(look[0] == "1" && look[2] == "0", "moved")
                seen.insert(look[1])
                let store: any Store = try SQLiteStore(at: program.deployment.store)
                let claimed = try await store.claim(
                    ClaimRequest(limit: 10, background: 10, kind: .usual, queues: nil, for: "w1")
                )
                .map(\.claim.jobID)
                #expect(claimed == [1, 2], "whatever was moved twice waits once")
            }
            #expect(seen.sorted() == jobs)
        }

        @Test func attachedStoreTakesPartInARollback() async throws {
            let program = try await Program()
            let sql = """
                ATTACH '\(program.deployment.store)/cameo.sqlite' AS store;
                BEGIN;
                INSERT INTO photo DEFAULT VALUES;
                INSERT INTO store.job(request) VALUES ('{"source":"initials:CD","renditions":[{"width":16}]}');
                ROLLBACK;
                """
            try await run("sqlite3", ["-bail", program.deployment.folder.path("own.sqlite"), sql]).succeeded()
            #expect(try await program.look() == "0 1 0")
        }

        /// `wal_autocheckpoint` applies to the connection, not to one of its files: the program's own log grows too,
        /// until the program checkpoints it.
        @Test func noFileOfAConnectionIsCheckpointedByItself() async throws {
            let program = try await Program()
            let path = program.deployment.folder.path("own.sqlite")
            let sql = """
                .bail on
                ATTACH '\(program.deployment.store)/cameo.sqlite' AS store;
                PRAGMA wal_autocheckpoint=0;
                INSERT INTO outbox(request) VALUES (zeroblob(9000000));
                .shell stat -c %s \(path)-wal
                PRAGMA main.wal_checkpoint(TRUNCATE);
                .shell stat -c %s \(path)-wal

                """
            let result = try await run("sqlite3", [path], input: Data(sql.utf8))
            let lines = result.outputText.split(separator: "\n").map(String.init)
            try #require(lines.count == 4, "\(result.outputText)\(result.errorText)")
            #expect(try #require(Int(lines[1])) > 9_000_000)
            #expect(lines.suffix(2) == ["0|0|0", "0"])
        }

        /// If another program is the last to close the store, it empties and removes the log. No other has it open
        /// then, so nothing is lost, and the WAL-reset bug needs two connections.
        @Test func aForeignProgramMayCloseTheStoreLast() async throws {
            let program = try await Program()
            try await program.take("inside")
            #expect(!FileManager.default.fileExists(atPath: "\(program.deployment.store)/cameo.sqlite-wal"))
            #expect(try await program.look() == "1 2 0")
            #expect(try await program.deployment.drain().exitStatus == 0)
            #expect(try await program.deployment.status().count(.completed) == 2)
        }
    }
}
