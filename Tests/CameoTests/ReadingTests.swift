import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

@testable import Cameo
@testable import CameoStore

/// Which loads tell retention that a thumbnail is still read.
@Suite(.timeLimit(.minutes(10)))
struct ReadingTests {
    private let bench: Workbench
    private let client: Client
    /// Keeps jobs, and thumbnails that are read within a day.
    private let retention: Retention

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
        var retention = Retention.forever
        retention.thumbnails = .seconds(86_400)
        self.retention = retention
    }

    enum Load: CaseIterable {
        case session, sessionHead, sessionNotModified, sessionBlob, clientData, clientBlob, clientResource
        case status, missing, readOnly, cachedOriginal

        var isReading: Bool {
            switch self {
            case .session, .sessionHead, .sessionNotModified, .sessionBlob, .clientData, .clientBlob, .clientResource:
                true
            case .status, .missing, .readOnly, .cachedOriginal: false
            }
        }
    }

    @Test(arguments: Load.allCases)
    func aLoadOfItsBytesIsAReading(load: Load) async throws {
        let job = try await client.enqueue(
            ThumbnailRequest(source: "https://example.com/a.jpg", renditions: [Rendition(width: 64)])
        )
        try await bench.work(try await bench.register()) { _ in Workbench.picture(1) }
        try await bench.keep("https://example.com/a.jpg", Workbench.picture(2), freshFor: 60)
        let made = try #require(try await client.thumbnails(for: job).first)
        let blob = try #require(made.blob)
        // It was made long ago, and readings have been noted ever since.
        let age = "UPDATE thumbnail SET updated_at = 1; UPDATE epoch SET since = 1;"
        let aged = try await run("sqlite3", ["\(bench.path)/cameo.sqlite"], input: Data(age.utf8))
        try #require(aged.exitStatus == 0, "\(aged.errorText)")
        #expect(try await client.store.prunable(retention).thumbnails == 1)

        try await perform(load, made.uri, blob, try #require(job.id))
        await client.finish()
        #expect(try await client.store.prunable(retention).thumbnails == (load.isReading ? 0 : 1))
    }

    private func perform(_ load: Load, _ uri: CameoURI, _ blob: CameoURI, _ job: Int64) async throws {
        let session = URLSession.cameo(client)
        var request = URLRequest(url: uri.url)
        switch load {
        case .session: _ = try await session.data(from: uri.url)
        case .sessionHead:
            request.httpMethod = "HEAD"
            _ = try await session.data(for: request)
        case .sessionNotModified:
            request.setValue("*", forHTTPHeaderField: "If-None-Match")
            let (_, response) = try await session.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 304)
        case .sessionBlob: _ = try await session.data(from: blob.url)
        case .clientData: _ = try await client.data(for: uri)
        case .clientBlob: _ = try await client.data(for: blob)
        case .clientResource: _ = try await client.load(Resource(uri) { $0.count })
        case .status: _ = try await client.status(of: job)
        case .missing:
            let other = try #require(URL(string: "cameo://thumb/00112233445566778899aabbccddeeff"))
            await #expect(throws: CameoURLError.self) { try await session.data(from: other) }
        case .readOnly: _ = try await Client(reading: bench.path).data(for: uri)
        case .cachedOriginal:
            let name = CameoURI.source("https://example.com/a.jpg").text
            _ = try await session.data(from: try #require(URL(string: name)))
        }
    }
}
