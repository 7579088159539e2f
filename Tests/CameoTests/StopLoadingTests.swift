import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import Synchronization
import TestSupport
import Testing

/// What a session never shows, since it ends a cancelled task by itself: a load that was stopped tells nothing more.
@Suite(.timeLimit(.minutes(10)))
struct StopLoadingTests {
    /// Hears what a protocol tells its session.
    private final class Listener: NSObject, URLProtocolClient {
        let events: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation
        private let heard = Mutex<[String]>([])

        override init() {
            (events, continuation) = AsyncStream.makeStream()
        }

        var all: [String] { heard.withLock { $0 } }

        private func hear(_ event: String) {
            heard.withLock { $0.append(event) }
            continuation.yield(event)
        }

        func urlProtocol(_: URLProtocol, didReceive: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy) {
            hear(policy == .notAllowed ? "response, not to be cached" : "response")
        }
        func urlProtocol(_: URLProtocol, didLoad data: Data) { hear("\(data.count) bytes") }
        func urlProtocolDidFinishLoading(_: URLProtocol) { hear("end") }
        func urlProtocol(_: URLProtocol, didFailWithError error: any Error) { hear("end by \(error)") }
        func urlProtocol(_: URLProtocol, wasRedirectedTo: URLRequest, redirectResponse: URLResponse) {
            hear("redirect")
        }
        func urlProtocol(_: URLProtocol, cachedResponseIsValid: CachedURLResponse) { hear("cached") }
        func urlProtocol(_: URLProtocol, didReceive: URLAuthenticationChallenge) { hear("challenge") }
        func urlProtocol(_: URLProtocol, didCancel: URLAuthenticationChallenge) { hear("no challenge") }
    }

    @Test func aLoadThatWasStoppedTellsNothingMore() async throws {
        let bench = try Workbench()
        let client = try Client(store: bench.path)
        let type = try #require(
            URLSessionConfiguration.cameo(client).protocolClasses?.first as? CameoURLProtocol.Type
        )
        let request = ThumbnailRequest(source: "file:///a.jpg", renditions: [Rendition(width: 64)])
        let uri = try await client.enqueue(request).thumbnails[0].uri
        let (stopped, other) = (Listener(), Listener())
        let url = URLRequest(url: uri.url(waiting: 30))
        let first = type.init(request: url, cachedResponse: nil, client: stopped)
        let second = type.init(request: url, cachedResponse: nil, client: other)
        first.startLoading()
        second.startLoading()
        first.stopLoading()
        let worker = try await bench.register()
        try await bench.work(worker) { Workbench.picture($0) }
        for await event in other.events where event.hasPrefix("end") { break }
        #expect(other.all == ["response, not to be cached", "4000 bytes", "end"])
        // Long enough for the first to have seen the commit too.
        _ = try await URLSession.cameo(client).data(from: uri.url)
        #expect(stopped.all.isEmpty)
    }
}
