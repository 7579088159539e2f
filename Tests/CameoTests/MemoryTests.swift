import Cameo
import CameoModel
import CameoStore
import Foundation
import FoundationNetworking
import StoreConformance
import Testing

/// What a client holds in memory: that it saves reading bytes, and never changes what is read.
@Suite(.timeLimit(.minutes(10)))
struct MemoryTests {
    private let bench: Workbench
    private let client: Client

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    private func thumbnail(_ bytes: Data) async throws -> CameoURI {
        let request = ThumbnailRequest(
            source: "https://example.com/\(UUID().uuidString).jpg",
            renditions: [Rendition(width: 64)]
        )
        let uri = try await client.enqueue(request).thumbnails[0].uri
        try await bench.work(try await bench.register()) { _ in bytes }
        return uri
    }

    @Test func theSecondLoadOfAllSessionsComesFromMemory() async throws {
        let uri = try await thumbnail(Workbench.picture(1))
        for (session, status) in [(URLSession.cameo(client), nil), (.cameo(client), "Cameo; hit; detail=memory")] {
            let (data, response) = try await session.data(from: uri.url)
            #expect(data == Workbench.picture(1))
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") == status)
        }
        #expect(try await client.data(for: uri) == Workbench.picture(1))
        let use = client.memoryUse
        #expect((use.hits, use.misses, use.blobs, use.capacity) == (2, 1, 1, 33_554_432))
        #expect(use.bytes >= 4_000)
    }

    @Test func aLoadFromMemoryIsAReading() async throws {
        let uri = try await thumbnail(Workbench.picture(1))
        _ = try await client.data(for: uri)
        // It was made long ago, and readings have been noted ever since.
        try await bench.sql("UPDATE thumbnail SET updated_at = 1, read_at = 1; UPDATE epoch SET since = 1;")
        _ = try await client.data(for: uri)
        await client.finish()
        #expect(client.memoryUse.hits == 1)
        #expect(try await bench.sql("SELECT read_at > 1 FROM thumbnail;") == "1")
    }

    @Test func whatIsForgottenIsServedNoMoreByWhicheverClient() async throws {
        let other = try Client(store: bench.path)
        let source = CameoURI.source("https://example.com/a.jpg")
        try await bench.keep("https://example.com/a.jpg", Workbench.picture(1), freshFor: 600)
        for reader in [client, other] { #expect(try await reader.data(for: source) == Workbench.picture(1)) }
        try await client.forget("https://example.com/a.jpg")
        #expect(client.memoryUse.blobs == 0 && client.memoryUse.bytes == 0 && client.memoryUse.misses == 1)
        for reader in [client, other] {
            await #expect(throws: CameoURLError.noDataAvailable(source.description)) {
                try await reader.data(for: source)
            }
        }
    }

    @Test func aReplacedThumbnailIsTheNewOneAtOnce() async throws {
        let uri = try await thumbnail(Workbench.picture(1))
        #expect(try await client.data(for: uri) == Workbench.picture(1))
        let new = try await client.store(Workbench.picture(2))
        try await bench.sql("UPDATE thumbnail SET blob = '\(new.description.suffix(64))';")
        #expect(try await client.data(for: uri) == Workbench.picture(2))
        try await bench.sql("DELETE FROM thumbnail;")
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await client.data(for: uri) }
    }

    @Test func aSessionServesFromMemoryWhatIsCurrentAndWhatIsAskedFor() async throws {
        let session = URLSession.cameo(client)
        let uri = try await thumbnail(Workbench.picture(1))
        let first = try await session.get(uri.url)
        let tag = try #require(first["ETag"])
        for _ in 0..<2 {
            let loaded = try await session.get(uri.url)
            #expect(loaded.data == Workbench.picture(1) && loaded.status == 200)
            for field in ["ETag", "Cache-Control", "Content-Type", "Content-Length", "Accept-Ranges"] {
                #expect(loaded[field] == first[field])
            }
            #expect(try await session.get(uri.url, ["If-None-Match": tag]).status == 304)
            #expect(try await session.get(uri.url, ["If-Match": "\"other\""]).status == 412)
            let part = try await session.get(uri.url, ["Range": "bytes=1-9"])
            #expect((part.data, part.status) == (Workbench.picture(1)[1..<10], 206))
            let head = try await session.get(uri.url, method: "HEAD")
            #expect((head.data, head.status) == (Data(), 200))
            #expect(try await session.get(uri.url, method: "PUT").status == 405)
        }
        let new = try await client.store(Workbench.picture(2))
        try await bench.sql("UPDATE thumbnail SET blob = '\(new.description.suffix(64))';")
        for _ in 0..<2 { #expect(try await session.get(uri.url).data == Workbench.picture(2)) }
        try await bench.sql("DELETE FROM thumbnail;")
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await session.get(uri.url) }
    }

    @Test func withoutCapacityNothingIsHeld() async throws {
        let frugal = try Client(store: bench.path, memoryCapacity: 0)
        let uri = try await thumbnail(Workbench.picture(1))
        for _ in 0..<2 { #expect(try await frugal.data(for: uri) == Workbench.picture(1)) }
        let use = frugal.memoryUse
        #expect((use.hits, use.misses, use.blobs, use.bytes) == (0, 2, 0, 0))
    }

    @Test func theLeastRecentlyReadGivesWay() {
        let memory = BlobMemory(capacity: 160_000)
        let blobs = (0..<40).map { Workbench.picture($0) }
        let digests = blobs.map { BlobDigest(of: $0) }
        for (blob, digest) in zip(blobs, digests) {
            memory.hold(blob, as: digest)
            #expect(memory.bytes(of: digests[0]) == blobs[0])
        }
        let held = (160_000 / 4_256) - 1
        #expect(memory.use.blobs == held + 1 && memory.use.bytes <= 160_000)
        for index in 1..<(40 - held) { #expect(memory.bytes(of: digests[index]) == nil) }
        for index in (40 - held)..<40 { #expect(memory.bytes(of: digests[index]) == blobs[index]) }
        // One that would displace many others is not held.
        let large = Workbench.picture(99, bytes: 10_001)
        memory.hold(large, as: BlobDigest(of: large))
        #expect(memory.bytes(of: BlobDigest(of: large)) == nil && memory.use.blobs == held + 1)
        // Held twice is held once.
        memory.hold(blobs[39], as: digests[39])
        #expect(memory.use.blobs == held + 1)
        memory.empty()
        #expect(memory.use.blobs == 0 && memory.use.bytes == 0 && memory.bytes(of: digests[0]) == nil)
    }
}
