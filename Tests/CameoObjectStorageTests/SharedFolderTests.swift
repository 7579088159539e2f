import CameoModel
import CameoObjectStorage
import CameoStore
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SharedFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func path(of digest: BlobDigest) -> String {
        folder.path("\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))")
    }

    @Test func aFolderIsMadeAStorageOnceAndOnlyIfAsked() async throws {
        let missing = StoreError.missing(path: folder.url.resolvingSymlinksInPath().path)
        #expect(throws: missing) { try SharedFolder(at: folder.path, creating: false) }
        _ = try await SharedFolder(at: folder.path, creating: true).put(Data("x".utf8))
        let again = try SharedFolder(at: folder.path + "/../\(folder.url.lastPathComponent)/", creating: true)
        #expect(try await again.list(after: nil, limit: 10).objects.count == 1)
        let named = try ByteStorages.open("file://\(folder.path)", creating: false, environment: [:])
        #expect(named.location == again.location)
    }

    @Test func nobodyReadsItByAURL() async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        _ = try await storage.put(Data("x".utf8))
        let terms = TemporaryURLTerms(lifetime: .seconds(60), endpoint: Endpoint("https://pictures.example"))
        #expect(try await storage.temporaryURL(of: BlobDigest(of: Data("x".utf8)), on: terms) == nil)
        #expect(storage.temporaryURLOrigin(at: terms.endpoint) == nil)
    }

    @Test func aFolderOfSomethingElseIsLeftAlone() throws {
        try folder.write(Data(), to: "holiday.jpg")
        let error = #expect(throws: StoreError.self) { try SharedFolder(at: folder.path, creating: true) }
        #expect(error?.description.contains("neither empty nor") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["holiday.jpg"])
        let nowhere = #expect(throws: StoreError.self) { try SharedFolder(at: folder.path("nowhere"), creating: true) }
        #expect(nowhere?.description.contains("there is no such folder: make it, or mount its file system") == true)
        #expect(throws: StoreError.self) { try SharedFolder(at: folder.path("holiday.jpg"), creating: true) }
    }

    /// A folder under which nothing is mounted looks like this.
    @Test func withoutItsMarkNothingIsReadOrWritten() async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        let data = Data("x".utf8)
        _ = try await storage.put(data)
        let away = folder.url.appendingPathExtension("away")
        try FileManager.default.moveItem(at: folder.url, to: away)
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: false)
        let calls: [() async throws -> Any] = [
            { try await storage.put(Data("y".utf8)) }, { try await storage.data(of: BlobDigest(of: data), size: 1) },
            { try await storage.list(after: nil, limit: 1) }, { try await storage.removeUnfinished(before: .now) },
            { try await storage.remove(BlobDigest(of: data)) },
        ]
        for call in calls {
            let reason = try await trouble("unreachable", of: storage) { try await call() }
            #expect(reason.contains("mounted"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try FileManager.default.removeItem(at: folder.url)
        try FileManager.default.moveItem(at: away, to: folder.url)
        #expect(try await storage.data(of: BlobDigest(of: data), size: 1) == data)
    }

    @Test func bytesAreFilesByTheirDigestAndNothingElseIsLeft() async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        let data = try bytes(10_000)
        let digest = BlobDigest(of: data)
        _ = try await storage.put(data)
        #expect(try Data(contentsOf: URL(filePath: path(of: digest))) == data)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")).isEmpty)
    }

    @Test(arguments: ["changed", "shortened", "link", "folder"])
    func damagedBytesAreNeverReturnedAndCanBeReplaced(damage: String) async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        let data = try bytes(10_000)
        let digest = BlobDigest(of: data)
        _ = try await storage.put(data)
        let file = URL(filePath: path(of: digest))
        switch damage {
        case "changed": try bytes(10_000).write(to: file)
        case "shortened": try data.prefix(9_999).write(to: file)
        case "link":
            let other = try folder.write(data, to: "tmp/elsewhere")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: other)
        default:
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        }
        let error = await #expect(throws: StoreError.self) { try await storage.data(of: digest, size: data.count) }
        if damage == "link" {
            guard case .unreadableBlob = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        } else {
            #expect(error == .damagedBlob(digest: digest.description))
        }
        guard damage != "folder" else { return }
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    @Test func aReplacementRenewsTheTimeAndAnotherPutDoesNot() async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        let data = Data("x".utf8)
        _ = try await storage.put(data)
        let old = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path(of: BlobDigest(of: data)))
        #expect(try await storage.put(data) == .existed)
        #expect(try await storage.list(after: nil, limit: 1).objects.map(\.storedAt) == [old])
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        #expect(try await storage.list(after: nil, limit: 1).objects.allSatisfy { $0.storedAt > .now - 60 })
    }

    @Test func whatAWriterLeftIsRemovedWhenItIsOld() async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        let (old, new) = ("tmp/\(UUID().uuidString)", "tmp/\(UUID().uuidString)")
        for name in [old, new, "tmp/notes"] { try folder.write(Data("x".utf8), to: name) }
        let yesterday = [FileAttributeKey.modificationDate: Date.now - 86_400]
        for name in [old, "tmp/notes"] {
            try FileManager.default.setAttributes(yesterday, ofItemAtPath: folder.path(name))
        }
        #expect(try await storage.removeUnfinished(before: .now - 3_600) == 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp"))
        #expect(Set(left) == [String(new.dropFirst(4)), "notes"])
    }

    @Test func otherEntriesAreForeignAndNeverEntered() async throws {
        let storage = try SharedFolder(at: folder.path, creating: true)
        _ = try await storage.put(Data("x".utf8))
        let inner = String(BlobDigest(of: Data("x".utf8)).hex.prefix(2))
        try FileManager.default.createDirectory(atPath: folder.path("photos"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.path("00"), withDestinationPath: "/")
        for name in ["photos/a", "\(inner)/b", "ff"] { try folder.write(Data(), to: name) }
        let page = try await storage.list(after: nil, limit: 100)
        #expect(page.objects.count == 1)
        #expect(page.foreign.sorted() == ["00", "\(inner)/b", "ff", "photos"].sorted())
    }

    @Test(arguments: [(0o700, 0o600, 0o700), (0o770, 0o660, 0o770), (0o2770, 0o660, 0o2770)])
    func theFoldersAccessIsThatOfWhatIsInIt(folderMode: Int, fileMode: Int, innerMode: Int) async throws {
        try FileManager.default.setAttributes([.posixPermissions: folderMode], ofItemAtPath: folder.path)
        let storage = try SharedFolder(at: folder.path, creating: true)
        let data = Data("x".utf8)
        _ = try await storage.put(data)
        let file = path(of: BlobDigest(of: data))
        let mode = { (path: String) in
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(file) == fileMode)
        #expect(try mode(folder.path("cameo-bytes")) == fileMode)
        #expect(try mode(URL(filePath: file).deletingLastPathComponent().path) == innerMode)
        #expect(try mode(folder.path("tmp")) == innerMode)
    }
}
