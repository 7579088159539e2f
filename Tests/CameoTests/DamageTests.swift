import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Bytes that are gone from the disk, or are not what they were: they are never served, and come back when they are asked
/// for again.
@Suite(.timeLimit(.minutes(10)))
struct DamageTests {
    enum Damage: CaseIterable {
        case gone, altered, shortened

        func strike(_ file: URL) throws {
            switch self {
            case .gone: try FileManager.default.removeItem(at: file)
            case .altered:
                var data = try Data(contentsOf: file)
                data[data.count / 2] ^= 1
                try data.write(to: file)
            case .shortened: try Data(contentsOf: file).dropLast().write(to: file)
            }
        }
    }

    private let bench: Workbench
    private let client: Client
    private let session: URLSession
    private let renditions = [Rendition(width: 64)]

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
        session = .cameo(client)
    }

    private func expectDamage(_ uri: CameoURI) async {
        let damaged = CameoURLError.damagedData(uri.description)
        await #expect(throws: damaged) { try await session.data(from: uri.url) }
        await #expect(throws: damaged) { try await client.data(for: uri) }
    }

    @Test(arguments: Damage.allCases)
    func aThumbnailIsMadeAnewByTheSameRequest(damage: Damage) async throws {
        let (request, bytes) = (
            ThumbnailRequest(source: "file:///a.jpg", renditions: renditions), Workbench.picture(1, bytes: 200_000)
        )
        let worker = try await bench.register()
        let uri = try await client.enqueue(request).thumbnails[0].uri
        try await bench.work(worker) { _ in bytes }
        try damage.strike(try bench.blobFile(of: bytes))
        await expectDamage(uri)
        #expect(try await client.enqueue(request).thumbnails[0].uri == uri)
        try await bench.work(worker) { _ in bytes }
        #expect(try await session.data(from: uri.url).0 == bytes)
    }

    @Test(arguments: Damage.allCases, [nil, "key"])
    func aPictureIsSoundAgainOnceItIsHandedOverAgain(damage: Damage, key: String?) async throws {
        let picture = Workbench.picture(2, bytes: 200_000)
        let job = try await client.enqueue(data: picture, renditions: renditions, cacheKey: key)
        let source = try #require(CameoURI(job.source))
        try damage.strike(try bench.blobFile(of: picture))
        await expectDamage(source)
        _ = try await client.enqueue(data: picture, renditions: renditions, cacheKey: key)
        #expect(try await session.data(from: source.url).0 == picture)
    }
}
