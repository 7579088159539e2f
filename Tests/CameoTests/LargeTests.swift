import Cameo
import CameoModel
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Originals that are not for memory, such as videos.
@Suite(.timeLimit(.minutes(10)))
struct LargeTests {
    private let bench: Workbench
    private let client: Client

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    /// A blob of so many zeros, which take no room on the disk, under a cached original's name.
    private func keepZeros(_ count: Int, as digest: BlobDigest) async throws -> CameoURI {
        try await bench.keep("https://example.com/a.mp4", Workbench.picture(1), freshFor: 600)
        let folder = URL(filePath: "\(bench.path)/blobs/\(digest.hex.prefix(2))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: String(digest.hex.dropFirst(2)))
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        #expect(truncate(file.path, off_t(count)) == 0)
        try await bench.sql(
            """
            INSERT INTO blob(digest, size, data, media_type, created_at)
              VALUES ('\(digest.hex)', \(count), NULL, 'video/mp4', 0);
            UPDATE source SET blob = '\(digest.hex)', size = \(count);
            """
        )
        return .source("https://example.com/a.mp4")
    }

    @Test func aVideoThatIsTooLargeForMemoryIsRefused() async throws {
        let count = Client.maximumDataBytes + 1
        let uri = try await keepZeros(count, as: BlobDigest(of: Data("any".utf8)))
        let refusal = CameoURLError.tooLarge(uri.url.absoluteString, bytes: count)
        await #expect(throws: refusal) { try await URLSession.cameo(client).data(from: uri.url) }
        await #expect(throws: refusal) { try await client.load(Resource(uri) { $0.count }) }
        await #expect(throws: CameoURLError.tooLarge(uri.description, bytes: count)) {
            try await client.data(for: uri)
        }
        #expect("\(refusal)".contains("\(count) bytes, more than the 268435456"))
    }

    @Test func aLargeOneIsWrittenToAFilePieceByPiece() async throws {
        let zeros = Data(repeating: 0, count: 5_000_000)
        let uri = try await keepZeros(zeros.count, as: BlobDigest(of: zeros))
        let file = bench.folder.url.appending(path: "video.mp4")
        for old in [nil, Data("old".utf8)] {
            try old?.write(to: file)
            try await client.write(uri, to: file)
            #expect(try Data(contentsOf: file) == zeros)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path).count == 2)
        let small = try await client.store(Workbench.picture(2))
        try await client.write(small, to: file)
        #expect(try Data(contentsOf: file) == Workbench.picture(2))
    }

    @Test func whatIsDamagedOrGoneOrCannotBeWrittenLeavesNothing() async throws {
        let uri = try await keepZeros(5_000_000, as: BlobDigest(of: Data("other".utf8)))
        let file = bench.folder.url.appending(path: "video.mp4")
        await #expect(throws: CameoURLError.damagedData(uri.description)) { try await client.write(uri, to: file) }
        let missing = CameoURI.source("https://example.com/b.mp4")
        await #expect(throws: CameoURLError.noDataAvailable(missing.description)) {
            try await client.write(missing, to: file)
        }
        let nowhere = bench.folder.url.appending(path: "nowhere/video.mp4")
        await #expect(throws: POSIXError.self) { try await client.write(uri, to: nowhere) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path) == ["store"])
        let task = Task { try await client.write(uri, to: file) }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
