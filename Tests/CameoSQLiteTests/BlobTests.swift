import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BlobTests {
    private static let large = Data(repeating: 7, count: 150_000)

    private func file(of digest: BlobDigest, in fixture: StoreFixture) -> String {
        "\(fixture.path)/blobs/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))"
    }

    @Test func largeBlobsAreFilesAndSmallOnesAreNot() async throws {
        let fixture = try StoreFixture()
        let small = Data(repeating: 7, count: 102_400)
        for data in [small, Self.large] { _ = try await fixture.store.enqueue(StoreFixture.request(), data: data) }
        #expect(!FileManager.default.fileExists(atPath: file(of: BlobDigest(of: small), in: fixture)))
        let path = file(of: BlobDigest(of: Self.large), in: fixture)
        #expect(try Data(contentsOf: URL(filePath: path)) == Self.large)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(fixture.path)/blobs/tmp").isEmpty)
    }

    @Test(arguments: ["changed", "shortened", "removed"])
    func damagedBlobIsNeverReturnedAndIsReported(damage: String) async throws {
        let fixture = try StoreFixture()
        let receipt = try await fixture.store.enqueue(StoreFixture.request(), data: Self.large)
        let uri = try #require(CameoURI(receipt.source))
        let digest = BlobDigest(of: Self.large)
        let path = file(of: digest, in: fixture)
        switch damage {
        case "changed": try Data(repeating: 8, count: 150_000).write(to: URL(filePath: path))
        case "shortened": try Data(repeating: 7, count: 149_999).write(to: URL(filePath: path))
        default: try FileManager.default.removeItem(atPath: path)
        }
        let isMissing = damage == "removed"
        let error = StoreError.damagedBlob(digest: digest.description, isMissing: isMissing)
        await #expect(throws: error) { try await fixture.store.data(of: uri) }
        if isMissing { await #expect(throws: error) { try await fixture.store.bytes(of: digest) } }
        #expect(error.description.contains("are missing") == isMissing)
        let finding = try #require(try await fixture.store.check().first { $0.subject == "blobs" })
        #expect(finding.severity == .error)
        #expect(finding.message.contains(digest.hex))
    }

    @Test func unknownNamesAreNotFound() async throws {
        let fixture = try StoreFixture()
        let uri = CameoURI.blob(BlobDigest(of: Data("nobody".utf8)))
        await #expect(throws: StoreError.notFound(uri: uri.text)) { try await fixture.store.data(of: uri) }
        let thumbnail = try #require(CameoURI("cameo://thumb/00000000000000000000000000000000"))
        await #expect(throws: StoreError.notFound(uri: thumbnail.text)) { try await fixture.store.data(of: thumbnail) }
    }

    @Test func soundStoreChecksClean() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.store.enqueue(StoreFixture.request(), data: Self.large)
        #expect(try await fixture.store.check().filter { $0.severity != .ok } == [])
    }

    @Test(arguments: [false, true])
    func makingAThumbnailAgainMendsItsBlob(isLarge: Bool) async throws {
        let fixture = try StoreFixture()
        let bytes = isLarge ? Self.large : Data("small".utf8)
        for round in 1...2 {
            try await fixture.enqueue()
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.complete(
                job.claim,
                storing: try StoreFixture.rendered(job, bytes: bytes),
                from: try StoreFixture.provenance(seen: Int64(round)),
                timings: AttemptTimings()
            )
            let digest = BlobDigest(of: bytes)
            #expect(try await fixture.store.data(of: digest) == bytes)
            guard round == 1 else { continue }
            if isLarge {
                try FileManager.default.removeItem(atPath: file(of: digest, in: fixture))
            } else {
                let result = try await run(
                    "sqlite3",
                    ["\(fixture.path)/cameo.sqlite", "UPDATE blob SET data = CAST('sMALL' AS BLOB)"]
                )
                #expect(result.exitStatus == 0)
            }
            await #expect(throws: StoreError.self) { try await fixture.store.data(of: digest) }
        }
    }
}
