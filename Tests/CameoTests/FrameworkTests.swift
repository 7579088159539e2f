import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import Synchronization
import TestSupport
import Testing

/// Sessions as libraries that load pictures use them: tasks with a delegate, which are suspended, resumed, ranked and
/// cancelled, with any cache policy.
@Suite(.timeLimit(.minutes(10)), .origin)
struct FrameworkTests {
    /// Hears what a session tells of its tasks.
    private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
        let ends: AsyncStream<(any Error)?>
        private let continuation: AsyncStream<(any Error)?>.Continuation
        private let heard = Mutex<(responses: [URLResponse], data: Data)>(([], Data()))

        override init() {
            (ends, continuation) = AsyncStream.makeStream()
        }

        var responses: [URLResponse] { heard.withLock { $0.responses } }
        var data: Data { heard.withLock { $0.data } }

        /// The end of the next task that ends.
        func end() async -> (any Error)? {
            for await end in ends { return end }
            return CancellationError()
        }

        func urlSession(
            _: URLSession,
            dataTask _: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            heard.withLock { $0.responses.append(response) }
            completionHandler(.allow)
        }

        func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive data: Data) {
            heard.withLock { $0.data += data }
        }

        func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?) {
            continuation.yield(error)
        }
    }

    private let bench: Workbench
    private let client: Client
    private let listener = Listener()
    private let session: URLSession

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
        let base = URLSessionConfiguration.ephemeral
        base.timeoutIntervalForRequest = 3_600
        let configuration = URLSessionConfiguration.cameo(client, readThrough: ReadThrough(), basedOn: base)
        session = URLSession(configuration: configuration, delegate: listener, delegateQueue: nil)
    }

    private func promise() async throws -> CameoURI {
        let request = ThumbnailRequest(source: "file:///a.jpg", renditions: [Rendition(width: 64)])
        return try await client.enqueue(request).thumbnails[0].uri
    }

    @Test(arguments: [
        URLRequest.CachePolicy.useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
        .returnCacheDataDontLoad, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData,
    ])
    func everyCachePolicyReadsTheStore(policy: URLRequest.CachePolicy) async throws {
        let picture = Workbench.picture(1)
        var request = URLRequest(url: try await client.store(picture).url, cachePolicy: policy, timeoutInterval: 15)
        request.allHTTPHeaderFields = ["Accept": "image/webp,image/*;q=0.8", "X-Own": "1"]
        request.httpShouldHandleCookies = false
        let task = session.dataTask(with: request)
        task.priority = URLSessionTask.highPriority
        task.resume()
        #expect(await listener.end() == nil)
        #expect(listener.data == picture && listener.responses.count == 1)
        #expect(listener.responses.first?.expectedContentLength == 4_000)
        #expect((listener.responses.first as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func aTaskThatIsSuspendedAndResumedEndsOnce() async throws {
        let uri = try await promise()
        let worker = try await bench.register()
        let task = session.dataTask(with: uri.url(waiting: 30))
        for _ in 0..<3 {
            task.resume()
            task.suspend()
        }
        task.resume()
        try await bench.work(worker) { Workbench.picture($0) }
        #expect(await listener.end() == nil)
        #expect(listener.data == Workbench.picture(0) && listener.responses.count == 1)
        #expect(task.state == .completed)
    }

    @Test func aDownloadThatIsSuspendedGoesOn() async throws {
        let origin = try await Origin.start()
        let task = session.dataTask(with: try #require(URL(string: origin.url("/held?count=9"))))
        task.resume()
        try await origin.awaitArrivals(of: "/held", count: 1)
        task.suspend()
        try await origin.release()
        task.resume()
        #expect(await listener.end() == nil)
        #expect(listener.data.count == 9 && listener.responses.count == 1)
    }

    @Test func aTaskThatIsCancelledWhileItsThumbnailIsAwaitedSaysSo() async throws {
        let uri = try await promise()
        let task = session.dataTask(with: uri.url(waiting: 30))
        task.resume()
        task.cancel()
        #expect((await listener.end() as? URLError)?.code == .cancelled)
        let suspended = session.dataTask(with: uri.url(waiting: 30))
        suspended.resume()
        suspended.suspend()
        suspended.cancel()
        #expect((await listener.end() as? URLError)?.code == .cancelled)
        #expect(listener.responses.isEmpty)
    }

    @Test func theTimeoutOfARequestEndsADownload() async throws {
        let origin = try #require(OriginScope.current)
        let url = try #require(URL(string: origin.url("/never")))
        session.dataTask(with: URLRequest(url: url, timeoutInterval: 1)).resume()
        #expect((await listener.end() as? URLError)?.code == .timedOut)
    }

    @Test func theEndOfRedirectsIsToldAlone() async throws {
        let origin = try #require(OriginScope.current)
        session.dataTask(with: try #require(URL(string: origin.url("/redirect?to=/bytes")))).resume()
        #expect(await listener.end() == nil)
        #expect(listener.responses.map(\.url?.path) == ["/bytes"] && listener.data.count == 1_000)
    }
}
