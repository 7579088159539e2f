internal import Foundation
internal import Synchronization

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
