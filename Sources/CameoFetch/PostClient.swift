internal import CameoHTTPCache
internal import CameoHTTPTransfer
package import CameoModel
internal import CameoSystem
package import Foundation
internal import Synchronization

// DESIGN. Posts have a transfer thread, connections and memory of their own: however slow their receivers are, no fetch
// waits for them, nor they for a fetch.

/// Posts messages to HTTP servers. Redirects are not followed, and of an answer only the status counts.
package final class PostClient: Sendable {
    /// The maximum size of an answer that is read.
    private static let answerBytes = 65_536
    /// The maximum number of posts at once.
    private static let maximumPosts = 1_000

    /// Started by the first post.
    private let transfers = Mutex<TransferThread?>(nil)

    package init() throws(FetchConfigurationError) { if let trouble = CurlLibrary.trouble { throw .library(trouble) } }

    deinit { transfers.withLock { $0?.shutdown() } }

    private func thread() throws -> TransferThread {
        try transfers.withLock { thread in
            if let thread { return thread }
            let started = try TransferThread(Self.configuration)
            thread = started
            return started
        }
    }

    private static var configuration: FetchConfiguration {
        var configuration = FetchConfiguration()
        configuration.maximumBytes = answerBytes
        configuration.budget = ByteBudget(limit: maximumPosts * answerBytes)
        configuration.maximumTransfers = maximumPosts
        configuration.maximumConnections = maximumPosts
        configuration.maximumConnectionsPerHost = maximumPosts
        // The time limit of each post is enough; a receiver may take its time to answer.
        configuration.lowSpeedBytesPerSecond = 0
        return configuration
    }

    /// Posts a message, and returns why it was not taken; nil if the server answered 2xx.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func post(
        _ body: Data,
        to target: PostTarget,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> String? {
        var fields = HTTPFields(headers.map { HTTPFields.Line(name: $0.name, value: $0.value) })
        if let authorization = target.url.authorization { fields.append("Authorization", authorization) }
        let request = TransferRequest(
            url: target.url,
            headers: fields,
            addressGuard: nil,
            budget: timeout,
            purpose: .source,
            body: body
        )
        let result: TransferResult
        do {
            result = try await thread().perform(request, WorkClock())
        } catch let error as HostBusy {
            return "\(error.host) is busy"
        }
        switch result.head?.status {
        case nil where result.error?.kind == .timedOut: return "the server did not answer within \(timeout)"
        case nil: return "the server cannot be reached: \(result.error?.description ?? "No error")"
        case let status? where (200..<300).contains(status): return nil
        case let status? where (300..<400).contains(status):
            return "the server answered \(status); redirects are not followed"
        case let status?: return "the server answered \(status)"
        }
    }
}

/// An `http:` or `https:` URL to which an operator has messages posted. No address is refused: the URL is configuration.
package struct PostTarget: Sendable {
    let url: HTTPURL

    /// - Throws: `InvalidRequest` with an empty path.
    package init(_ text: String) throws(InvalidRequest) {
        do throws(CurlURL.ParsingError) {
            url = try HTTPURL(parsing: text)
        } catch {
            throw InvalidRequest(path: "", reason: "is not an http: or https: URL: \(error.reason)")
        }
    }
}
