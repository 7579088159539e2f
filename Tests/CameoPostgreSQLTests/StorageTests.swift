import CameoModel
import CameoObjectStorage
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Large blobs whose bytes are outside of the database.
@Suite(.timeLimit(.minutes(10)))
struct StorageTests {
    private let folder: TemporaryFolder
    private let storage: SharedFolder
    private let fixture: StoreFixture
    /// The fixture's store, opened with the storage.
    private let store: PostgreSQLStore

    init() async throws {
        folder = try TemporaryFolder()
        storage = try SharedFolder(at: folder.path, creating: true)
        fixture = try await StoreFixture()
        let storage = storage
        let place = BytesPlace(chosen: folder.path) { _ in storage }
        store = try PostgreSQLStore(fixture.store.url, bytes: place, clock: fixture.clock.storeClock)
    }

    private static func bytes(_ count: Int, _ seed: Int = 31) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* seed) })
    }

    private static let large = bytes(300_000)

    private func stored() async throws -> [BlobDigest] {
        try await storage.list(after: nil, limit: 100).objects.map(\.digest)
    }

    private func complete(_ job: ClaimedJob, _ bytes: Data, seen: Int64 = 1, source: String = "picture") async throws {
        let product = JobProduct.rendered(
            try StoreFixture.rendered(job, bytes: bytes),
            try StoreFixture.provenance(seen: seen, source: source)
        )
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
    }

    private func claimOne() async throws -> ClaimedJob {
        _ = try await store.enqueue([StoreFixture.request()])
        return try #require(try await store.claim(limit: 1, for: "w1").first)
    }

    @Test func onlyLargeBlobsAreInTheStorage() async throws {
        let small = try await store.store(Self.bytes(102_400), mediaType: nil)
        let large = try await store.store(Self.bytes(102_401), mediaType: nil)
        #expect(try await stored() == [large])
        #expect(try await fixture.sql("SELECT digest FROM blob WHERE data IS NULL") == large.hex)
        for (digest, count) in [(small, 102_400), (large, 102_401)] {
            #expect(try await store.data(of: digest) == Self.bytes(count))
            #expect(try await store.size(of: .blob(digest)) == count)
        }
        // A program that was told of no storage says so.
        await #expect(throws: StoreError.self) { try await fixture.store.data(of: large) }
    }

    @Test func aLargeThumbnailAppearsWithItsJob() async throws {
        let job = try await claimOne()
        try await complete(job, Self.large)
        let id = try job.parsedRequest().thumbnailIDs()[0]
        #expect(try await store.data(of: .thumbnail(id)) == Self.large)
        #expect(try await store.have([id], as: nil))
        #expect(try await stored().count == 1)
        #expect(try await fixture.wrongCounts() == "")
    }

    /// Whether the first blob is sound has to be read from the storage, outside of the transaction.
    @Test(arguments: [true, false])
    func theFirstBlobStaysUnlessItIsDamaged(isSound: Bool) async throws {
        let first = try await claimOne()
        let second = try await claimOne()
        try await complete(first, Self.large)
        let id = try first.parsedRequest().thumbnailIDs()[0]
        let digest = try await store.thumbnail(id).blob
        if !isSound { try await storage.remove(digest) }
        let other = Self.bytes(300_000, 7)
        try await complete(second, other, seen: 2)
        #expect(try await store.data(of: .thumbnail(id)) == (isSound ? Self.large : other))
        #expect(try await store.job(second.claim.jobID).state == .completed)
    }

    @Test func missingAndDamagedBytesAreNeverReturned() async throws {
        let digest = try await store.store(Self.large, mediaType: nil)
        try await storage.remove(digest)
        let missing = StoreError.damagedBlob(digest: digest.description, isMissing: true)
        await #expect(throws: missing) { try await store.data(of: digest) }
        await #expect(throws: missing) { try await store.bytes(of: digest) }
        // Storing them again repairs them.
        #expect(try await store.store(Self.large, mediaType: nil) == digest)
        #expect(try await store.data(of: digest) == Self.large)
    }

    @Test func bytesThatNothingNamesAreCollectedAnHourLater() async throws {
        let job = try await claimOne()
        try await complete(job, Self.large)
        let again = try await claimOne()
        try await complete(again, Self.bytes(300_000, 5), seen: 2, source: "another")
        let kept = try await store.thumbnail(job.parsedRequest().thumbnailIDs()[0]).blob
        #expect(try await stored().count == 2)
        let recently = fixture.clock.now.addingTimeInterval(-3_600)
        #expect(try await store.collectBlobs(unreferencedSince: recently, atMost: 100).count == 0)
        // Triggers go by the server's clock, rows by the test's.
        let later = max(fixture.clock.now, .now).addingTimeInterval(1)
        let collected = try await store.collectBlobs(unreferencedSince: later, atMost: 100)
        #expect((collected.count, collected.bytes) == (1, 300_000))
        #expect(try await stored() == [kept])
        #expect(try await fixture.sql("SELECT digest FROM blob") == kept.hex)
        #expect(try await fixture.wrongCounts() == "")
    }

    /// A put while the same bytes are being removed waits for the removal, and puts them again.
    @Test func bytesThatAreStoredWhileTheyAreCollectedStay() async throws {
        for _ in 0..<10 {
            let job = try await claimOne()
            try await complete(job, Self.large)
            let id = try job.parsedRequest().thumbnailIDs()[0]
            #expect(try await store.removeThumbnails([id]) == 1)
            // The bytes are old enough to be removed, and what is stored from now on is not.
            let later = fixture.clock.now
            fixture.clock.advance(seconds: 1)
            async let collected = store.collectBlobs(unreferencedSince: later, atMost: 100)
            let digest = try await store.store(Self.large, mediaType: nil)
            _ = try await collected
            #expect(try await store.data(of: digest) == Self.large)
            try await fixture.sql("UPDATE blob SET pinned = false")
        }
    }

    /// A store that got its place later has large blobs in their rows.
    @Test(arguments: [true, false])
    func bytesStayInTheirRowUntilTheStorageHasThem(isThere: Bool) async throws {
        let digest = try await fixture.store.store(Self.large, mediaType: nil)
        if !isThere { try FileManager.default.removeItem(atPath: folder.path) }
        let again = try? await store.store(Self.large, mediaType: nil)
        #expect(again == (isThere ? digest : nil))
        #expect(try await fixture.sql("SELECT data IS NULL FROM blob") == (isThere ? "t" : "f"))
        #expect(try await store.data(of: digest) == Self.large)
    }

    @Test func thePlaceIsRememberedAndAnotherIsRefused() async throws {
        let digest = try await store.store(Self.large, mediaType: nil)
        let opened = Mutex<[String]>([])
        let reader = try PostgreSQLStore(
            fixture.store.url,
            .readOnly,
            bytes: BytesPlace(chosen: nil) { name in
                opened.withLock { $0.append(name) }
                return storage
            }
        )
        #expect(opened.withLock { $0 } == [storage.location])
        #expect(try await reader.data(of: digest) == Self.large)
        let other = try TemporaryFolder()
        let error = #expect(throws: StoreError.self) {
            let place = BytesPlace(chosen: other.path) { name throws(StoreError) in
                try SharedFolder(at: name, creating: true)
            }
            _ = try PostgreSQLStore(fixture.store.url, bytes: place)
        }
        #expect(error?.description.contains("it keeps its bytes in \(storage.location)") == true)
    }

    /// The owner's mark decides, and not how the place is spelled.
    @Test(arguments: [false, true])
    func aPlaceUnderAnotherNameIsTheSame(isEmpty: Bool) async throws {
        let parent = try TemporaryFolder()
        let (before, after) = ("\(parent.path)/before", "\(parent.path)/after")
        let url = try DatabaseURL(try await PostgreSQLServer.shared().newURL())
        func open(_ path: String?, _ access: PostgreSQLStore.Access = .creating) throws -> PostgreSQLStore {
            let place = BytesPlace(chosen: path) { name throws(StoreError) in
                try SharedFolder(at: name, creating: true)
            }
            return try PostgreSQLStore(url, access, bytes: place)
        }
        try FileManager.default.createDirectory(atPath: before, withIntermediateDirectories: false)
        let first = try open(before)
        let digest = try await isEmpty ? nil : first.store(Self.large, mediaType: nil)
        try FileManager.default.moveItem(atPath: before, toPath: after)
        // Whoever may say where the bytes are has them found from now on.
        for store in [try open(after, .readOnly), try open(after)] {
            if let digest { #expect(try await store.data(of: digest) == Self.large) }
        }
        #expect(try open(nil).folder == after)
        // A copy of the database does not own them.
        _ = try await PostgreSQLServer.shared().sql("UPDATE schema_version SET identity = 'copy'", schema: url.schema)
        try FileManager.default.moveItem(atPath: after, toPath: before)
        let error = #expect(throws: StoreError.self) { try open(before) }
        #expect(error?.description.contains("it keeps its bytes in \(after) and not in \(before)") == true)
    }

    @Test func aPlaceThatCannotBeUsedIsNotRemembered() async throws {
        let url = try DatabaseURL(try await PostgreSQLServer.shared().newURL())
        let nowhere = "s3://no-such-bucket/x?endpoint=http://127.0.0.1:9"
        let keys = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"]
        let typo = BytesPlace(chosen: nowhere) { name throws(StoreError) in
            var configuration = ObjectStorageConfiguration(environment: keys)
            configuration.retries.patience = .zero
            return try ObjectStorage(try BucketName(name, environment: keys), configuration: configuration)
        }
        let error = #expect(throws: StoreError.self) { try PostgreSQLStore(url, bytes: typo) }
        #expect(error?.description.contains("is not remembered") == true)
        let storage = storage
        let right = try PostgreSQLStore(url, bytes: BytesPlace(chosen: storage.location) { _ in storage })
        #expect(right.folder == storage.location)
        #expect(try await stored().isEmpty, "the probe leaves nothing")
    }

    @Test func aPlaceWhereNothingIsCanBeReplaced() async throws {
        let (other, url) = (try TemporaryFolder(), fixture.store.url)
        func set(_ folder: TemporaryFolder) throws -> String? {
            let place = BytesPlace(chosen: folder.path) { name throws(StoreError) in
                try SharedFolder(at: name, creating: true)
            }
            return try PostgreSQLStore.setBytes(place, of: url)
        }
        func refusal() -> String { #expect(throws: StoreError.self) { try set(folder) }?.description ?? "" }
        #expect(try set(other) == folder.path)
        // Who has it open would put bytes into the old place.
        let error = await #expect(throws: StoreError.self) { try await store.enqueue([StoreFixture.request()]) }
        #expect(error?.description.contains("its bytes have another") == true && !store.isInPlace)
        let opened = try PostgreSQLStore(
            url,
            bytes: BytesPlace(chosen: nil) { name throws(StoreError) in try SharedFolder(at: name, creating: false) }
        )
        #expect(opened.folder == other.path)
        #expect(try await opened.othersBytes() == nil)
        try await opened.register(WorkerDescription(id: "w1", host: "h", pid: 1, version: "test", concurrency: 1))
        #expect(refusal().contains("1 workers may be using \(other.path)"))
        _ = try await opened.enqueue([StoreFixture.request()])
        #expect(try await opened.claim(limit: 1, for: "w1").count == 1)
        try await fixture.sql("UPDATE worker SET lease_until = 0")
        #expect(refusal().contains("1 workers may be using"), "its job runs")
        try await opened.deregister("w1")
        _ = try await opened.store(Self.large, mediaType: nil)
        #expect(refusal().contains("1 blobs are in \(other.path)"))
        // What nothing refers to is not needed.
        try await fixture.sql("UPDATE blob SET pinned = false")
        #expect(try set(folder) == other.path && set(folder) == folder.path)
    }

    /// Small blobs are in the database, and nobody reads a folder by a URL.
    @Test func aURLIsOfABlobInABucket() async throws {
        let (small, large) = (Self.bytes(100), Self.large)
        let terms = TemporaryURLTerms(lifetime: .seconds(60))
        for store in [fixture.store, store] {
            let digest = try await store.store(small, mediaType: nil)
            #expect(try await store.temporaryURL(of: digest, on: terms) == nil)
            #expect(store.temporaryURLOrigin(at: nil) == nil)
        }
        let digest = try await store.store(large, mediaType: nil)
        #expect(try await store.temporaryURL(of: digest, on: terms) == nil)
        let none = BlobDigest(of: Data("none".utf8))
        await #expect(throws: StoreError.notFound(uri: CameoURI.blob(none).text)) {
            try await store.temporaryURL(of: none, on: terms)
        }
    }

    @Test func aJobIsNotCompletedIfItsBytesCannotBeStored() async throws {
        let job = try await claimOne()
        try FileManager.default.removeItem(atPath: folder.path)
        await #expect(throws: StoreError.self) { try await complete(job, Self.large) }
        #expect(try await store.job(job.claim.jobID).state == .running)
        #expect(try await fixture.sql("SELECT count(*) FROM thumbnail") == "0")
    }

    /// A folder in the place of the bytes cannot be removed as a file.
    @Test func whatTheStorageDoesNotRemoveStopsNothingElse() async throws {
        let large = [Self.large, Self.bytes(300_000, 7), Self.bytes(300_000, 11)]
        var digests: [BlobDigest] = []
        for bytes in large { digests.append(try await store.store(bytes, mediaType: nil)) }
        try await fixture.sql(
            """
            UPDATE blob SET pinned = false, created_at = 0;
            INSERT INTO orphan SELECT digest, row_number() OVER (ORDER BY digest) FROM blob
              ON CONFLICT (digest) DO UPDATE SET since = excluded.since;
            INSERT INTO partial VALUES ('u', '', '', 1, 0)
            """
        )
        let stuck = try #require(digests.map(\.hex).min())
        let path = "\(folder.path)/\(stuck.prefix(2))/\(stuck.dropFirst(2))"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        fixture.clock.advance(seconds: 7_200)
        for _ in 1...2 {
            let error = await #expect(throws: (any Error).self) { try await prune() }
            #expect(
                error.map { "\($0)" }?.contains("1 expired blobs could not be removed") == true,
                "\(String(describing: error))"
            )
            #expect(try await fixture.sql("SELECT digest FROM blob") == stuck)
            #expect(try await fixture.sql("SELECT count(*) FROM partial") == "0")
            // It is put off for an hour.
            _ = try await prune()
            fixture.clock.advance(seconds: 3_700)
        }
        try FileManager.default.removeItem(atPath: path)
        fixture.clock.advance(seconds: 3_700)
        #expect(try await prune().blobs == 1)
    }

    private func prune() async throws -> Pruned { try await store.prune(Retention(), in: try await store.freeTurn()) }
}
