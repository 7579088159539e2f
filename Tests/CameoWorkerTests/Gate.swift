/// Holds tasks back until a test opens it.
struct Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.finish() }

    /// Returns when the gate is open, which only one task may wait for.
    ///
    /// - Throws: `CancellationError`.
    func pass() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
