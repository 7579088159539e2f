import CameoModel
import CameoObjectStorage
import CameoStore
import CameoSystem
import Foundation
import TestSupport
import Testing

/// What every storage has to keep.
@Suite(.objectServers(.swift, .juicefs), .serialized, .timeLimit(.minutes(5)))
struct ByteStorageTests {
    @Test(arguments: StorageKind.allCases, [0, 1, 100_000])
    func bytesAreReadAsTheyWereStored(kind: StorageKind, size: Int) async throws {
        let (storage, place) = try kind.make()
        let data = try bytes(size)
        let digest = BlobDigest(of: data)
        #expect(try await storage.put(data) == .stored)
        #expect(try await storage.data(of: digest, size: size) == data)
        for range in [0..<size, 0..<min(size, 1), size / 2..<size, size..<size] {
            #expect(try await storage.data(of: digest, range: range, size: size) == data[range])
        }
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func bytesAreReadPieceByPieceFromAFile(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        let data = try bytes(3_000_000)
        _ = try await storage.put(data)
        guard case .file(let file, data.count) = try await storage.bytes(of: BlobDigest(of: data), size: data.count)
        else {
            Issue.record("not a file")
            return
        }
        let read = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
        try read.seek(toOffset: 0)
        #expect(try read.readToEnd() == data)
        withExtendedLifetime((place, file)) {}
    }

    @Test(arguments: StorageKind.allCases)
    func oneStoresMarkStandsUntilAnotherTakesOver(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        #expect(try await storage.owner() == nil)
        try await storage.setOwner("one", existing: .kept)
        #expect(try await storage.owner() == "one")
        try await storage.setOwner("two", existing: .kept)
        // JuiceFS's gateway does not know conditions: there the last wins.
        #expect(try await storage.owner() == (kind == .juicefs ? "two" : "one"))
        try await storage.setOwner("three", existing: .replaced)
        #expect(try await storage.owner() == "three")
        #expect(try await storage.list(after: nil, limit: 10) == StoredObjectPage())
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func whatIsNotThereIsNotFoundAndItsRemovalDoesNothing(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        let digest = BlobDigest(of: Data("nothing".utf8))
        let error = StoreError.notFound(uri: "cameo://blob/\(digest)")
        await #expect(throws: error) { try await storage.data(of: digest, size: 7) }
        await #expect(throws: error) { try await storage.data(of: digest, range: 0..<1, size: 7) }
        await #expect(throws: error) { try await storage.bytes(of: digest, size: 7_000_000) }
        try await storage.remove(digest)
        #expect(try await storage.list(after: nil, limit: 10) == StoredObjectPage())
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func removedBytesAreGoneAndCanBeStoredAgain(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        let data = try bytes(1_000)
        let digest = BlobDigest(of: data)
        _ = try await storage.put(data)
        try await storage.remove(digest)
        await #expect(throws: StoreError.notFound(uri: "cameo://blob/\(digest)")) {
            try await storage.data(of: digest, size: 1_000)
        }
        #expect(try await storage.put(data) == .stored)
        #expect(try await storage.data(of: digest, size: 1_000) == data)
        withExtendedLifetime(place) {}
    }

    /// The row's size decides: a larger object is not read into memory, a smaller one is not taken for whole.
    @Test(arguments: StorageKind.allCases, [-1, 1, 5_000_000])
    func bytesOfAnotherSizeAreDamaged(kind: StorageKind, difference: Int) async throws {
        let (storage, place) = try kind.make()
        let data = try bytes(2_000)
        let digest = BlobDigest(of: data)
        _ = try await storage.put(data)
        let error = StoreError.damagedBlob(digest: digest.description)
        await #expect(throws: error) { try await storage.data(of: digest, size: 2_000 + difference) }
        await #expect(throws: error) { try await storage.data(of: digest, range: 0..<9, size: 2_000 + difference) }
        await #expect(throws: error) { try await storage.bytes(of: digest, size: 2_000 + difference) }
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func eightPutsOfTheSameBytesAtATimeLeaveThemOnce(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        let data = try bytes(50_000)
        let results = try await withThrowingTaskGroup(of: PutResult.self) { group in
            for _ in 0..<8 { group.addTask { try await storage.put(data) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // How many have written does not matter: Swift judges a condition when a request begins, JuiceFS never.
        #expect(results.contains(.stored))
        let page = try await storage.list(after: nil, limit: 10)
        #expect(page.objects.map(\.digest) == [BlobDigest(of: data)])
        #expect(try await storage.data(of: BlobDigest(of: data), size: data.count) == data)
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func aSecondPutLeavesWhatIsThereUnlessItReplaces(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        let data = try bytes(1_000)
        _ = try await storage.put(data)
        let again = try await storage.put(data)
        #expect(again == (kind == .juicefs ? .stored : .existed))
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        #expect(try await storage.data(of: BlobDigest(of: data), size: 1_000) == data)
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func listingComesByPagesInOrderWithSizesAndTimes(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        let all = (0..<25).map { Data("object \($0)".utf8) }
        let begun = Date()
        for data in all { _ = try await storage.put(data) }
        var (listed, cursor, pages) = ([StoredObject](), String?.none, 0)
        repeat {
            let page = try await storage.list(after: cursor, limit: 10)
            #expect(page.objects.count <= 10)
            #expect(page.foreign.isEmpty)
            (listed, cursor, pages) = (listed + page.objects, page.next, pages + 1)
        } while cursor != nil && pages < 10
        #expect(listed.map(\.digest.hex) == all.map { BlobDigest(of: $0).hex }.sorted())
        let sizes = Dictionary(uniqueKeysWithValues: all.map { (BlobDigest(of: $0), $0.count) })
        for object in listed {
            #expect(object.size == sizes[object.digest])
            // Times of S3 have a second's precision at least.
            #expect(object.storedAt > begun - 2 && object.storedAt < Date() + 2)
        }
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func aCursorOutlivesTheObjectThatItNames(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        for index in 0..<6 { _ = try await storage.put(Data("object \(index)".utf8)) }
        let first = try await storage.list(after: nil, limit: 3)
        let last = try #require(first.objects.last)
        try await storage.remove(last.digest)
        let second = try await storage.list(after: first.next, limit: 3)
        #expect(second.objects.count == 3)
        #expect(second.objects.allSatisfy { $0.digest.hex > last.digest.hex })
        withExtendedLifetime(place) {}
    }

    @Test(arguments: StorageKind.allCases)
    func aClosedStorageRefusesAtOnce(kind: StorageKind) async throws {
        let (storage, place) = try kind.make()
        storage.close()
        await #expect(throws: StoreError.self) { try await storage.put(Data("late".utf8)) }
        withExtendedLifetime(place) {}
    }
}
