import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Stores that refuse writes on a healthy disk.
    @Suite(.timeLimit(.minutes(10)))
    struct StorePermissionTests {
        private static let refusal = "read-only disk or in a folder that may not be written"

        /// A foreign trigger in the store forbids every end of a job; the drain must not wait forever.
        @Test func aDrainThatCannotRecordAnEndSaysSo() async throws {
            let deployment = try await Deployment.withPhoto()
            let receipt = try #require(try await deployment.enqueue("pictures/photo.jpg").first)
            _ = try await deployment.sql(
                """
                CREATE TRIGGER forbidden BEFORE UPDATE OF token ON task WHEN NEW.token IS NULL
                BEGIN SELECT RAISE(ABORT, 'it shall not end'); END;
                CREATE TRIGGER forbidden_too BEFORE DELETE ON task WHEN OLD.token IS NOT NULL
                BEGIN SELECT RAISE(ABORT, 'it shall not end'); END;
                """
            )
            let forbidden = try await deployment.drain()
            #expect(forbidden.exitStatus == 4, "\(forbidden.outputText)")
            #expect(forbidden.errorText.contains("it shall not end"), "\(forbidden.errorText)")
            _ = try await deployment.sql("DROP TRIGGER forbidden; DROP TRIGGER forbidden_too;")
            #expect(try await deployment.drain().exitStatus == 0)
            #expect(try await deployment.job(receipt.jobID).state == .completed)
        }

        @Test func aFolderOfBlobsThatMayNotBeWrittenForAWhileCostsNoJob() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            defer { try? deployment.setPermissions(0o700, ofFoldersIn: deployment.store) }
            let worker = try deployment.startWorkerWithoutOverride()
            defer { worker.killGroup() }
            try await deployment.expectCompletedOnce(try await deployment.enqueueDistinct(1, in: store))
            try deployment.setPermissions(0o500, ofFoldersIn: "\(deployment.store)/blobs")
            let receipts = try await deployment.enqueueDistinct(3, from: 1, in: store)
            try await worker.hasSaid("waits for the store to take its result")
            #expect(String(decoding: worker.standardError, as: UTF8.self).contains(Self.refusal))
            #expect(try await store.status().count(.completed) == 1)
            try await deployment.waitUntil { try await $0.status().workers.contains { $0.trouble != nil } }
            let sick = try await deployment.command("cameo-status health")
            #expect(sick.exitStatus == 1 && sick.outputText.contains(Self.refusal), "\(sick.outputText)")
            try deployment.setPermissions(0o700, ofFoldersIn: "\(deployment.store)/blobs")
            try await deployment.expectCompletedOnce(receipts)
            try await deployment.waitUntil { try await $0.status().workers.allSatisfy { $0.trouble == nil } }
            #expect(try await deployment.command("cameo-status health").exitStatus == 0)
            try await deployment.expectUncharged(receipts)
            #expect(await worker.stop() == .exited(0))
        }

        /// A running worker has its files open and goes on; a new one is refused with a message.
        @Test func aStoreWhoseFoldersMayNotBeWrittenForAWhileRefusesWhoComesAndLosesNothing() async throws {
            let deployment = try Deployment()
            let store: any Store = try SQLiteStore(at: deployment.store)
            defer { try? deployment.setPermissions(0o700, ofFoldersIn: deployment.store) }
            let worker = try deployment.startWorkerWithoutOverride()
            defer { worker.killGroup() }
            try await deployment.expectCompletedOnce(try await deployment.enqueueDistinct(1, in: store))
            try deployment.setPermissions(0o500, ofFoldersIn: deployment.store)
            let receipts = try await deployment.enqueueDistinct(3, from: 1, in: store)
            let enqueue = [try Deployment.executable("cameo-enqueue"), "pictures/photo.jpg", "--size", "33x33"]
            let refused = try await deployment.runWithoutOverride(enqueue)
            #expect(refused.exitStatus == 4)
            #expect(refused.errorText.contains(Self.refusal))
            try await worker.hasSaid("waits for the store to take its result")
            try deployment.setPermissions(0o700, ofFoldersIn: deployment.store)
            #expect(try await deployment.runWithoutOverride(enqueue).exitStatus == 0)
            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            #expect(try await store.status().jobs.values.reduce(0, +) == 5)
            #expect(await worker.stop() == .exited(0))
        }

        /// A blob that cannot be read is neither intact nor damaged: it is reported, and a repair removes nothing.
        @Test func aFolderOfBlobsThatCannotBeReadIsNamedAndLosesNothing() async throws {
            let deployment = try Deployment()
            let digest = try await (SQLiteStore(at: deployment.store) as any Store).store(
                Data(repeating: 7, count: 150_000),
                mediaType: nil
            )
            let folder = "blobs/\(digest.hex.prefix(2))"
            defer { try? deployment.setPermissions(0o700, ofFoldersIn: deployment.store) }
            try deployment.setPermissions(0, ofFoldersIn: "\(deployment.store)/\(folder)")
            let check = [try Deployment.executable("cameo-admin"), "check", "--repair"]
            let named = try await deployment.runWithoutOverride(check)
            #expect(named.exitStatus == 1)
            #expect(named.outputText.contains("unexpected: the folder \(folder) cannot be read: Permission denied"))
            #expect(named.outputText.contains("error\tblobs: \(deployment.store)/\(folder)/"), "\(named.outputText)")
            #expect(!named.outputText.contains("mended"))
            try deployment.setPermissions(0o700, ofFoldersIn: "\(deployment.store)/\(folder)")
            #expect(try await deployment.runWithoutOverride(check).exitStatus == 0)
        }
    }
}

extension Deployment {
    /// Makes a command of root subject to permissions like any other user's.
    private static let withoutOverride =
        getuid() == 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []

    fileprivate func startWorkerWithoutOverride() throws -> ChildProcess {
        let command = Self.withoutOverride + [try Self.executable("cameo-worker"), "--allow-root", pictures]
        return try ChildProcess(
            "/usr/bin/env",
            command,
            environment: ["CAMEO_STORE": store],
            currentDirectory: folder.url
        )
    }

    fileprivate func runWithoutOverride(_ command: [String]) async throws -> ProcessResult {
        try await run(
            "/usr/bin/env",
            Self.withoutOverride + command,
            environment: ["CAMEO_STORE": store],
            currentDirectory: folder.url
        )
    }

    /// Applies to the folder and all folders in it, but not to their files.
    fileprivate func setPermissions(_ mode: Int, ofFoldersIn folder: String) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
        for path in [folder] + paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
    }
}
