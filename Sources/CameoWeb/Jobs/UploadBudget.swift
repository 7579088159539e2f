internal import Hummingbird
internal import Synchronization

/// Bounds the bytes of uploads that are in progress at once, which wait on the disk until a store takes them.
package final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// Runs `body`, which receives up to this many bytes. A single upload is always admitted.
    ///
    /// - Throws: ``Problem`` with status 503 if the uploads in progress leave no room; what `body` throws.
    package func hold<Value>(_ bytes: Int, _ body: () async throws -> Value) async throws -> Value {
        let isAdmitted = used.withLock { used in
            guard used == 0 || used + bytes <= limit else { return false }
            used += bytes
            return true
        }
        guard isAdmitted else {
            var problem = Problem(.serviceUnavailable, "too many uploads are in progress; repeat this one later")
            problem.headers[.retryAfter] = "1"
            problem.endsConnection = true
            throw problem
        }
        defer { used.withLock { $0 -= bytes } }
        return try await body()
    }
}
