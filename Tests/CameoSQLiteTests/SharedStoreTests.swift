import CameoModel
import CameoQueue
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoSQLite

/// A store whose folder an operator has created for a group. What programs of other users do in it, under their own
/// umask, is tested with the commands (`EndToEnd.SharedStoreTests`).
@Suite(.timeLimit(.minutes(10)))
struct SharedStoreTests {
    private static let large = Data(repeating: 9, count: 150_000)

    private func folder(mode: Int, in folder: TemporaryFolder) throws -> String {
        let path = folder.path("store")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// The modes of all files and folders in the store.
    private func modes(in path: String) throws -> (files: Set<Int>, folders: [String: Int]) {
        var (files, folders) = (Set<Int>(), [String: Int]())
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            if attributes[.type] as? FileAttributeType == .typeDirectory {
                folders[name] = mode
            } else {
                files.insert(mode)
            }
        }
        return (files, folders)
    }

    /// Creates something of every kind that a store contains.
    private func fill(_ store: SQLiteStore) async throws {
        _ = try await store.store(Self.large, mediaType: nil)
        try await store.register(WorkerDescription(id: "w1", host: "host", pid: 1, version: "test", concurrency: 1))
        _ = try store.maintenanceTurn()
        store.close()
    }

    @Test func contentsOfASharedFolderAreForItsGroup() async throws {
        let temporary = try TemporaryFolder()
        let path = try folder(mode: 0o2770, in: temporary)
        let store = try SQLiteStore(at: path)
        try await fill(store)
        let made = try modes(in: path)
        #expect(made.files == [0o660])
        var folders = made.folders
        for name in ["blobs", "blobs/tmp", "workers"] {
            let mode = folders.removeValue(forKey: name)
            #expect(mode == 0o2770, "\(name)")
        }
        #expect(folders.count == 1 && folders.values.allSatisfy { $0 & 0o777 == 0o770 })
        let finding = try #require(try await store.check().first { $0.subject == "access" })
        #expect(finding.severity == .ok)
    }

    /// Any other mode may be accidental, e.g. from a umask or the parent folder.
    @Test(arguments: [0o770, 0o775, 0o2775, 0o2750, 0o2700, 0o755, 0o700])
    func contentsOfAnyOtherFolderArePrivate(mode: Int) async throws {
        let temporary = try TemporaryFolder()
        let path = try folder(mode: mode, in: temporary)
        let store = try SQLiteStore(at: path)
        try await fill(store)
        let (files, folders) = try modes(in: path)
        #expect(files == [0o600])
        #expect(folders.values.allSatisfy { $0 & 0o777 == 0o700 } && folders.count == 4, "\(folders)")
        #expect(try await store.check().allSatisfy { $0.subject != "access" })
    }

    @Test func aNewStoreInASharedFolderIsPrivate() async throws {
        let temporary = try TemporaryFolder()
        let path = try folder(mode: 0o2770, in: temporary) + "/inner"
        try await fill(try SQLiteStore(at: path))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o777 } == 0o700)
        #expect(try modes(in: path).files == [0o600])
    }

    @Test func aCopyOfASharedStoreIsPrivate() async throws {
        let temporary = try TemporaryFolder()
        let store = try SQLiteStore(at: try folder(mode: 0o2770, in: temporary))
        try await fill(store)
        let copy = temporary.path("copy")
        _ = try await store.backUp(to: copy, in: try #require(try store.maintenanceTurn()))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func filesThatTheGroupCannotUseAreReported() async throws {
        let temporary = try TemporaryFolder()
        let path = try folder(mode: 0o2770, in: temporary)
        let store = try SQLiteStore(at: path)
        try await fill(store)
        let digest = BlobDigest(of: Self.large)
        let blob = store.directory.blobFile(digest)
        for (closed, mode) in [(blob, 0o640), (path + "/cameo.sqlite", 0o640), (path + "/workers", 0o2750)] {
            let usual = try #require(
                try FileManager.default.attributesOfItem(atPath: closed)[.posixPermissions] as? Int
            )
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: closed)
            let finding = try #require(try await store.check().first { $0.subject == "access" })
            #expect(finding.severity == .error)
            #expect(finding.message.hasPrefix("\(closed.dropFirst(path.count + 1)) is not accessible to the group"))
            try FileManager.default.setAttributes([.posixPermissions: usual], ofItemAtPath: closed)
        }
        #expect(try await store.check().first { $0.subject == "access" }?.severity == .ok)
    }
}
