/// A way to the bytes behind one kind of URI.
package protocol SourceProvider: Sendable {
    /// The URI schemes that it serves, in lower case.
    var schemes: [String] { get }

    /// Whether those who want the same at one time get one and the same answer.
    var sharesFetches: Bool { get }

    /// - Parameter request: its target is a URI of one of the schemes, in any case.
    /// - Returns: the bytes, complete and hashed.
    /// - Throws: `JobFailure` at stage `fetch`, or `CancellationError` when the task is cancelled.
    func open(_ request: SourceRequest) async throws -> FetchedSource

    /// Ends the provider's threads; what is under way ends with `CancellationError`.
    func shutdown()
}

extension SourceProvider {
    /// Only a network is slow enough for it to pay.
    package var sharesFetches: Bool { false }
}
