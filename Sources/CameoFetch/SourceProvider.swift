/// Fetches sources of certain URI schemes.
package protocol SourceProvider: Sendable {
    /// The supported URI schemes, in lower case.
    var schemes: [String] { get }

    /// Whether concurrent fetches of the same source share one result.
    var sharesFetches: Bool { get }

    /// - Parameter request: its target has one of the schemes, in any case.
    /// - Returns: the bytes, complete and hashed.
    /// - Throws: `JobFailure` at stage `fetch`, or `CancellationError` when the task is cancelled.
    func open(_ request: SourceRequest) async throws -> FetchedSource

    /// Ends the provider's threads. Fetches under way end with `CancellationError`.
    func shutdown()
}

extension SourceProvider {
    /// Sharing is worthwhile only over a network.
    package var sharesFetches: Bool { false }
}
