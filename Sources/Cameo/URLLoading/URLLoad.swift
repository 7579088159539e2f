internal import Foundation
internal import Synchronization

/// One load of a protocol instance, which ends once: by an answer, by an error, or because the session stopped it.
/// These may come at the same time.
final class URLLoad: Sendable {
    /// The instance, which its session's client is told by. Foundation declares it unavailable as `Sendable`; here it
    /// is used by the one who ended the load, and by nobody after, so never by two at once.
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
            // A session stops a task that is cancelled at once before it starts it.
            guard !state.isStopped else { return }
            state.ticket = ticket
            state.task = Task { await work(self) }
        }
    }

    /// Whether the session's client hears, or has heard, the end from here.
    var isAnswered: Bool { state.withLock { $0.isAnswered } }

    /// The session's client hears nothing more, unless it hears the end just now.
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
        // All at once: swift-corelibs-foundation hands only the last piece to a completion handler.
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
