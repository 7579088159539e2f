internal import CameoHTTPCache
internal import Foundation
internal import Synchronization

/// Loads `cameo:` URLs in a `URLSession`, and `http:` and `https:` URLs in sessions that read through the store.
///
/// Most programs use `URLSessionConfiguration.cameo(store:)`. To add the protocol to a configuration by hand, subclass it and
/// override ``cameoClient``: a session creates instances by itself and passes them nothing but a request.
open class CameoURLProtocol: URLProtocol {
    private let load = Mutex(URLLoad())

    /// The client of the store to read from. This class itself has none, so its loads fail with
    /// ``CameoURLError/storeUnavailable(reason:)``.
    open class var cameoClient: Client? { nil }

    /// The rules for reading `http:` and `https:` URLs through the store; nil leaves them to the session.
    open class var cameoReadThrough: ReadThrough? { nil }

    /// True for the scheme `cameo`; in sessions that read through, also for GET and HEAD requests without a body, and for
    /// unsafe requests (PUT, POST, DELETE, PATCH), which invalidate what is kept.
    open override class func canInit(with request: URLRequest) -> Bool {
        switch request.url?.scheme?.lowercased() {
        case "cameo": true
        case "http", "https": cameoReadThrough != nil && canReadThrough(request)
        default: false
        }
    }

    private static func canReadThrough(_ request: URLRequest) -> Bool {
        guard request.httpBodyStream == nil, request.url?.host()?.isEmpty == false else { return false }
        return switch request.httpMethod ?? "GET" {
        case "GET", "HEAD": request.httpBody == nil
        case "DELETE": true
        // A request without a body may belong to an upload task, whose body is not visible to protocols.
        case let method: !HTTPMethod.isSafe(method) && request.httpBody != nil
        }
    }

    /// Returns the canonical spelling of an address. A malformed one is returned unchanged and fails when it is loaded.
    open override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        guard let url = request.url, let address = try? CameoAddress(url), let canonical = URL(string: address.text)
        else { return request }
        var request = request
        request.url = canonical
        return request
    }

    /// Nil as soon as the load has completed. If the task is cancelled at that moment, it reports its failure through this
    /// property; reported twice, swift-corelibs-foundation would look up a task that no longer exists and crash.
    open override var client: (any URLProtocolClient)? {
        get { load.withLock(\.self).isAnswered ? nil : super.client }
        set { super.client = newValue }
    }

    /// Begins the load and returns at once: the store is never read on the session's threads.
    open override func startLoading() {
        guard let client else { return }
        let request = request
        let type = Self.self
        // For a download task, Foundation expects a file that only its own protocols create, and crashes without it
        // (https://github.com/swiftlang/swift-corelibs-foundation/issues/5465).
        let isDownload = task is URLSessionDownloadTask
        let isUpload = task is URLSessionUploadTask
        // A task that is suspended is stopped, and started again when it is resumed.
        let isResumed = task?.state == .running
        let load = load.withLock { load in
            if isResumed, load.isStopped { load = URLLoad() }
            return load
        }
        load.begin(URLLoad.Ticket(urlProtocol: self, client: client)) { load in
            do {
                guard !isDownload else { throw CameoURLError.downloadTask(request.url?.absoluteString ?? "") }
                if isUpload, request.url?.scheme?.lowercased() != "cameo" {
                    let reason = "the body of an upload task is not visible to protocols; set httpBody instead"
                    throw URLError(.unsupportedURL, userInfo: [NSLocalizedDescriptionKey: reason])
                }
                load.finish(with: try await type.answer(to: request))
            } catch {
                load.finish(throwing: error)
            }
        }
    }

    private static func answer(to request: URLRequest) async throws -> Answer {
        guard let client = cameoClient else {
            throw CameoURLError.storeUnavailable(reason: "\(self) was given no store")
        }
        guard request.url?.scheme?.lowercased() != "cameo" else { return try await client.answer(to: request) }
        return try await ProtocolClasses.loader(of: self, client).answer(to: request)
    }

    /// Cancels the load. The session's client is not called any more.
    open override func stopLoading() {
        load.withLock(\.self).stop()
    }
}

/// One load of a protocol instance. It ends exactly once, by a response, by an error or by the session, even if several of
/// these happen at the same time.
final class URLLoad: Sendable {
    /// The protocol instance and its session's client. Foundation declares the instance unavailable as `Sendable`; here only
    /// the caller that ends the load uses it, so there is never concurrent use.
    struct Ticket: @unchecked Sendable {
        let urlProtocol: URLProtocol
        let client: any URLProtocolClient
    }

    private struct State {
        var ticket: Ticket?
        var task: Task<Void, Never>?
        var isAnswered = false
        var isStopped = false
    }

    private let state = Mutex(State())

    func begin(_ ticket: Ticket, _ work: @escaping @Sendable (URLLoad) async -> Void) {
        state.withLock { state in
            // A session may stop a cancelled task before it starts it.
            guard !state.isStopped, state.task == nil else { return }
            state.ticket = ticket
            state.task = Task { await work(self) }
        }
    }

    /// Whether this load reports, or has reported, its end to the session's client.
    var isAnswered: Bool { state.withLock { $0.isAnswered } }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Stops the load. The session's client is not called any more, unless its end is being reported already.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            state.ticket = nil
            return state.task
        }
        task?.cancel()
    }

    func finish(with answer: Answer) {
        guard let ticket = end() else { return }
        let (urlProtocol, client) = (ticket.urlProtocol, ticket.client)
        // The store is the cache.
        client.urlProtocol(urlProtocol, didReceive: answer.response, cacheStoragePolicy: .notAllowed)
        // In one piece: swift-corelibs-foundation passes only the last piece to a completion handler.
        client.urlProtocol(urlProtocol, didLoad: answer.body)
        client.urlProtocolDidFinishLoading(urlProtocol)
    }

    func finish(throwing error: any Error) {
        guard let ticket = end() else { return }
        ticket.client.urlProtocol(ticket.urlProtocol, didFailWithError: error)
    }

    private func end() -> Ticket? {
        state.withLock { state in
            guard let ticket = state.ticket else { return nil }
            state.ticket = nil
            state.isAnswered = true
            return ticket
        }
    }
}
