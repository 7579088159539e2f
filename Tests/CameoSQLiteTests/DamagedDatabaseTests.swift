import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Damaged database pages, as after a disk failure.
@Suite(.timeLimit(.minutes(10)))
struct DamagedDatabaseTests {
    /// Overwrites the root page of a table or index while nothing has the file open.
    private func store(withDamaged tree: String) async throws -> (TemporaryFolder, SQLiteStore) {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        let offset = try await offset(of: tree, inNewStoreAt: path)
        let file = try FileHandle(forWritingTo: URL(filePath: "\(path)/cameo.sqlite"))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0x41, count: 64))
        try file.close()
        return (folder, try SQLiteStore(at: path))
    }

    private func offset(of tree: String, inNewStoreAt path: String) async throws -> UInt64 {
        let store = try SQLiteStore(at: path)
        _ = try await store.enqueue([StoreFixture.request()])
        let page = try await store.read { db in
            try db.value("SELECT rootpage FROM sqlite_schema WHERE name = ?", [tree]) as Int?
        }
        store.close()
        return UInt64((try #require(page) - 1) * SQLiteConnection.pageSize)
    }

    @Test(arguments: ["job", "attempt", "batch_job", "thumbnail", "task_waiting"])
    func aCheckReportsTheDamageAndWhatToDo(tree: String) async throws {
        let (folder, store) = try await store(withDamaged: tree)
        defer { withExtendedLifetime(folder) {} }
        let findings = try await store.check()
        let database = try #require(findings.first { $0.subject == "database" })
        #expect(database.severity == .error)
        #expect(database.message.contains(".recover"), "\(database.message)")
        #expect(findings.contains { $0.subject == "sandbox" }, "checks that need no page still run")
    }

    @Test(arguments: ["job", "attempt", "batch_job", "thumbnail", "task_waiting"])
    func aRepairLeavesReportingToTheCheck(tree: String) async throws {
        let (folder, store) = try await store(withDamaged: tree)
        defer { withExtendedLifetime(folder) {} }
        _ = try await store.repair(in: try await store.freeTurn())
        #expect(try await store.check().contains { $0.subject == "database" && $0.severity == .error })
    }

    /// The commands that the documentation gives.
    private static func recovery() throws -> String {
        let section = try #require(try Page.article("Operating").section("Damaged tables"))
        let block = try #require(section.components(separatedBy: "```").dropFirst().first)
        let commands = block.split(separator: "\n").dropFirst().map { $0.hasPrefix("$ ") ? $0.dropFirst(2) : $0 }
        try #require(commands.first?.hasPrefix("cd ") == true && commands.last?.hasPrefix("cameo-admin check") == true)
        return commands.dropFirst().dropLast().joined(separator: "\n")
    }

    @Test func readableRowsAreRecoveredAsTheDocumentationSays() async throws {
        let (folder, damaged) = try await store(withDamaged: "attempt")
        damaged.close()
        let recovered = try await run(
            "/bin/sh",
            ["-eu"],
            input: Data(try Self.recovery().utf8),
            currentDirectory: URL(filePath: folder.path("store"))
        )
        #expect(recovered.exitStatus == 0, "\(recovered.errorText)")
        let store = try SQLiteStore(at: folder.path("store"), creating: false)
        _ = try await store.repair(in: try await store.freeTurn())
        #expect(try await store.check().allSatisfy { $0.severity != .error })
        #expect(try await store.read { db in try db.value("PRAGMA journal_mode") as String? } == "wal")
        #expect(try await store.claim(limit: 1, for: "w1").count == 1)
    }

    @Test func anUnreadableTableReportsWhatToDo() async throws {
        let (folder, store) = try await store(withDamaged: "thumbnail")
        defer { withExtendedLifetime(folder) {} }
        let error = await #expect(throws: StoreError.self) {
            try await store.read { db in _ = try db.query("SELECT * FROM thumbnail") }
        }
        #expect(error?.description.contains(store.directory.path) == true)
        #expect(error?.description.contains(".recover") == true)
    }
}
