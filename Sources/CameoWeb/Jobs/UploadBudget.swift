internal import Hummingbird
internal import Synchronization

/// Bounds the bytes of uploads that have arrived and wait on the disk until a store takes them.
package final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// The bytes of one upload, until it is released.
    package final class Share: Sendable {
        private let budget: UploadBudget
        private let bytes = Mutex(0)

        fileprivate init(_ budget: UploadBudget) { self.budget = budget }

        deinit {
            let own = bytes.withLock { $0 }
            budget.used.withLock { $0 -= own }
        }

        package var count: Int { bytes.withLock { $0 } }

        /// Adds bytes that have arrived. A single upload is always admitted.
        ///
        /// - Throws: ``Problem`` with status 503 if the uploads in progress leave no room.
        package func grow(by count: Int) throws {
            let isAdmitted = bytes.withLock { own in
                budget.used.withLock { used in
                    guard used == own || used + count <= budget.limit else { return false }
                    used += count
                    own += count
                    return true
                }
            }
            guard !isAdmitted else { return }
            var problem = Problem(.serviceUnavailable, "too many uploads are in progress; repeat this one later")
            problem.headers[.retryAfter] = "1"
            problem.isOthersFault = true
            throw problem
        }
    }

    package func share() -> Share { Share(self) }
}
