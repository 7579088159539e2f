internal import CameoHTTPCache
internal import Dispatch
internal import Foundation
internal import Synchronization

/// One request and what came back, without any redirect having been followed.
struct HTTPExchange: Sendable {
    let url: URL
    let response: HTTPURLResponse
    let head: CacheableResponse
    /// Without its content coding.
    let body: Data
}

/// The session that does the transfers.
///
/// DESIGN. Its delegate follows no redirect: the rules for what may go to another host, and what each hop allows a cache,
/// are kept by who asks. Bodies are collected whole, because they are handed on whole (see `URLLoad`) and kept whole.
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

    init(_ configuration: URLSessionConfiguration) {
        super.init()
        session.withLock { $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: nil) }
    }

    /// Cancelling the task ends the transfer.
    ///
    /// - Throws: the `URLError` of the network as it is; `CancellationError`.
    func perform(_ request: URLRequest) async throws -> HTTPExchange {
        try Task.checkCancellation()
        guard let url = request.url, let task = session.withLock({ $0?.dataTask(with: request) }) else {
            throw URLError(.badURL)
        }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    transfers.withLock {
                        $0[task.taskIdentifier] = Transfer(continuation: continuation, url: url, requestTime: Date())
                    }
                    task.resume()
                }
            } onCancel: {
                // The outer session calls this on its work queue, which all sessions share at the bottom, and `cancel`
                // waits for that queue.
                DispatchQueue.global().async { task.cancel() }
            }
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }

    // MARK: - What the session tells

    func urlSession(
        _: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfers.withLock {
            $0[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse
            $0[dataTask.taskIdentifier]?.responseTime = Date()
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

    /// Comes after the answer with status 401 and its body, which are what the requester is to see.
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
    /// - Parameter fields: as Foundation has them, all lines of a name joined; in no order.
    init(_ fields: [AnyHashable: Any]) {
        self.init(
            fields.map { Line(name: "\($0.key)", value: "\($0.value)") }.sorted { $0.name < $1.name }
        )
    }
}
