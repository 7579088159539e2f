import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Sessions: one class a store, many loads, and their cancellation.
@Suite(.timeLimit(.minutes(10)))
struct SessionTests {
    @Test func twoStoresOfOneProcessDoNotSeeEachOther() async throws {
        let benches = [try Workbench(), try Workbench()]
        var uris: [CameoURI] = []
        for (index, bench) in benches.enumerated() {
            uris.append(try await Client(store: bench.path).store(Workbench.picture(index)))
        }
        let sessions = try benches.map { try URLSession.cameo(store: $0.path) }
        for (index, session) in sessions.enumerated() {
            #expect(try await session.data(from: uris[index].url).0 == Workbench.picture(index))
            let other = uris[1 - index]
            await #expect(throws: CameoURLError.noDataAvailable(other.description)) {
                try await session.data(from: other.url)
            }
        }
    }

    @Test func oneStoreHasOneClassHoweverOftenItIsAskedFor() throws {
        let bench = try Workbench()
        let first = try URLSessionConfiguration.cameo(store: bench.path)
        let second = try URLSessionConfiguration.cameo(store: bench.path)
        let other = try URLSessionConfiguration.cameo(Client(store: bench.path))
        #expect(first.protocolClasses?.first == second.protocolClasses?.first)
        #expect(first.protocolClasses?.first != other.protocolClasses?.first)
        #expect(URLSessionConfiguration.default.protocolClasses?.contains { $0 is CameoURLProtocol.Type } != true)
    }

    @Test func aStoreThatTookThePlaceOfAnotherIsTheOneThatIsRead() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        _ = try URLSession.cameo(store: path)
        try FileManager.default.removeItem(atPath: path)
        let stored = try await Client(store: path).store(Workbench.picture(1))
        #expect(try await URLSession.cameo(store: path).data(from: stored.url).0 == Workbench.picture(1))
    }

    @Test func nothingIsAddedToTheRequestsOfOtherSchemes() throws {
        let folder = try TemporaryFolder()
        let configuration = try URLSessionConfiguration.cameo(store: folder.path("store"))
        #expect(configuration.httpAdditionalHeaders?.isEmpty ?? true)
        let request = URLRequest(url: try #require(URL(string: "http://example.com/cameo://thumb/1")))
        #expect(!CameoURLProtocol.canInit(with: request))
    }

    @Test func onlyACacheOfTheProgramsOwnStandsBesideTheStore() throws {
        let folder = try TemporaryFolder()
        let client = try Client(store: folder.path("store"))
        #expect(URLSessionConfiguration.cameo(client).urlCache == nil)
        let base = URLSessionConfiguration.ephemeral
        let own = URLCache(memoryCapacity: 1_000, diskCapacity: 0, diskPath: nil)
        base.urlCache = own
        #expect(URLSessionConfiguration.cameo(client, basedOn: base).urlCache === own)
        #expect(URLSessionConfiguration.cameo(client, readThrough: ReadThrough(), basedOn: base).urlCache == nil)
        #expect(base.urlCache === own)
    }

    @Test func aProtocolWithoutAStoreSaysSo() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [CameoURLProtocol.self]
        let url = try #require(URL(string: "cameo://thumb/00112233445566778899aabbccddeeff"))
        let error = await #expect(throws: CameoURLError.self) {
            try await URLSession(configuration: configuration).data(from: url)
        }
        #expect(error == .storeUnavailable(reason: "CameoURLProtocol was given no store"))
    }

    @Test func aPageOfAThousandThumbnailsIsRead() async throws {
        let bench = try Workbench()
        let client = try Client(store: bench.path)
        let requests = (0..<1_000).map {
            ThumbnailRequest(source: "file:///pictures/\($0).jpg", renditions: [Rendition(width: 256)])
        }
        let uris = try await client.enqueue(requests).map { $0.thumbnails[0].uri }
        let worker = try await bench.register()
        #expect(try await bench.work(worker) { Workbench.picture($0, bytes: 12_000) } == 1_000)
        let session = URLSession.cameo(client)
        let loaded = try await withThrowingTaskGroup(of: (Int, Data).self) { group in
            for (index, uri) in uris.enumerated() {
                group.addTask { (index, try await session.data(from: uri.url).0) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(loaded.count == 1_000)
        #expect(loaded.allSatisfy { $0.value == Workbench.picture($0.key, bytes: 12_000) })
    }

    /// Foundation ends the process when a task is told its end after it was cancelled.
    @Test func loadsMayBeCancelledAtAnyMoment() async throws {
        let folder = try TemporaryFolder()
        let client = try Client(store: folder.path("store"))
        let session = URLSession.cameo(client)
        let url = try await client.store(Workbench.picture(1)).url
        for index in 0..<2_000 {
            let load = Task { try await session.data(from: url).0 }
            try await Task.sleep(for: .microseconds(index % 200 * 4))
            load.cancel()
            if case .success(let data) = await load.result { #expect(data == Workbench.picture(1)) }
        }
        #expect(try await session.data(from: url).0 == Workbench.picture(1))
    }

    @Test func aResourceIsReadByASessionAndByTheClient() async throws {
        struct Refused: Error {}
        let folder = try TemporaryFolder()
        let client = try Client(store: folder.path("store"))
        let uri = try await client.store(Data("[1,2,3]".utf8), mediaType: "application/json")
        let numbers = Resource(uri) { try JSONDecoder().decode([Int].self, from: $0) }
        #expect(try await URLSession.cameo(client).load(numbers) == [1, 2, 3])
        #expect(try await client.load(numbers) == [1, 2, 3])
        let refusing = Resource<Int>(uri) { _ in throw Refused() }
        await #expect(throws: Refused.self) { try await client.load(refusing) }
        let absent = try #require(URL(string: "cameo://thumb/00112233445566778899aabbccddeeff?wait=30"))
        let waiting = Resource(URLRequest(url: absent)) { data, _ in data }
        let load = Task { try await client.load(waiting) }
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
    }
}
