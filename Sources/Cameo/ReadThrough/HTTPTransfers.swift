internal import CameoHTTPCache
internal import Dispatch
internal import Foundation
internal import Synchronization

/// One request and its response; redirects are not followed.
struct HTTPExchange: Sendable {
    let url: URL
    let response: HTTPURLResponse
    let head: CacheableResponse
    /// The body after content decoding.
    let body: Data
}

/// The session that carries out the transfers.
///
/// DESIGN. The delegate follows no redirects: the ``RedirectRoute`` decides what may be sent to another host, and the cache judges
/// each response on the way. Bodies are collected whole, because they are delivered (see ``URLLoad``) and stored whole.
final class HTTPTransfers: NSObject, URLSessionDataDelegate, Sendable {
    private struct Transfer {
        let continuation: CheckedContinuation<HTTPExchange, any Error>
        let url: URL
        let requestTime: Date
        var response: HTTPURLResponse?
        var responseTime: Date?
        var body = Data()
    }

    private let transfers = Mutex<[Int: Transfer]>([:])
    private let session = Mutex<URLSession?>(nil)

    private let now: @Sendable () -> Date

    init(_ configuration: URLSessionConfiguration, now: @escaping @Sendable () -> Date) {
        self.now = now
        super.init()
        session.withLock { $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: nil) }
    }

    /// Carries out a request. Cancelling the task aborts the transfer.
    ///
    /// - Throws: the original `URLError`; `CancellationError`.
    func perform(_ request: URLRequest) async throws -> HTTPExchange {
        try Task.checkCancellation()
        guard let url = request.url, let task = session.withLock({ $0?.dataTask(with: request) }) else {
            throw URLError(.badURL)
        }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    transfers.withLock {
                        $0[task.taskIdentifier] = Transfer(continuation: continuation, url: url, requestTime: now())
                    }
                    task.resume()
                }
            } onCancel: {
                // The outer session may call this on its work queue, which targets a queue that all sessions share, and
                // `cancel` waits for that queue.
                DispatchQueue.global().async { task.cancel() }
            }
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }

    // MARK: - Delegate

    func urlSession(
        _: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfers.withLock {
            $0[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse
            $0[dataTask.taskIdentifier]?.responseTime = now()
        }
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfers.withLock { $0[dataTask.taskIdentifier]?.body.append(data) }
    }

    func urlSession(
        _: URLSession,
        task _: URLSessionTask,
        willPerformHTTPRedirection _: HTTPURLResponse,
        newRequest _: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Called after the 401 and its body have been received. The requester gets these.
    func urlSession(
        _: URLSession,
        task: URLSessionTask,
        didReceive _: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        end(task, by: nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, by: error)
    }

    private func end(_ task: URLSessionTask, by error: (any Error)?) {
        guard let transfer = transfers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return transfer.continuation.resume(throwing: error) }
        guard let response = transfer.response, let responseTime = transfer.responseTime else {
            return transfer.continuation.resume(throwing: URLError(.badServerResponse))
        }
        let head = CacheableResponse(
            status: response.statusCode,
            fields: HTTPFields(response.allHeaderFields),
            requestTime: transfer.requestTime,
            responseTime: responseTime
        )
        transfer.continuation.resume(
            returning: HTTPExchange(url: transfer.url, response: response, head: head, body: transfer.body)
        )
    }
}

extension HTTPFields {
    /// - Parameter fields: Foundation's header fields: unordered, with all lines of a name joined.
    init(_ fields: [AnyHashable: Any]) {
        self.init(fields.map { Line(name: "\($0.key)", value: "\($0.value)") }.sorted { $0.name < $1.name })
    }
}
