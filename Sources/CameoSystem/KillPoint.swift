internal import Glibc
internal import Synchronization

// DESIGN. A worker killed at a random moment nearly always dies while it renders, because that is where its time goes.
// The moments that matter for the store's promises last microseconds, so they have names, and a test can have the
// worker kill itself at one of them: `CAMEO_TEST_KILL_POINT=after-commit:3` is the third time that point is passed. It
// uses SIGKILL, so that no clean-up can run. `CAMEO_TEST_FREEZE_POINT`, in the same form, stops the process there until
// SIGCONT instead. Debug builds only.

/// Moments in a job's life at which tests kill the worker, in order.
package enum KillPoint: String, CaseIterable, Sendable {
    /// The claim is committed; no work has begun.
    case afterClaim = "after-claim"
    /// The source is open and partly read.
    case midFetch = "mid-fetch"
    /// A renderer has the whole job.
    case midRender = "mid-render"
    /// A thumbnail's bytes are synced to a file that no row names yet.
    case afterBlobSync = "after-blob-sync"
    /// All rows of the completion are written but not committed.
    case insideTransaction = "inside-transaction"
    /// The completion is durable, but the worker has not been told.
    case afterCommit = "after-commit"
}

#if DEBUG
    extension KillPoint {
        /// Kills or stops the process if a test chose this point and this passage.
        package func pass() {
            guard let chosen = Self.chosen, chosen.point == self,
                Self.passages.add(1, ordering: .relaxed).newValue == chosen.passage
            else { return }
            // Signals this thread: a signal to the process might stop another thread first while this one runs on.
            raise(chosen.signal)
        }

        private static let passages = Atomic<Int>(0)

        private static let chosen =
            choice("CAMEO_TEST_KILL_POINT", SIGKILL) ?? choice("CAMEO_TEST_FREEZE_POINT", SIGSTOP)

        private static func choice(_ name: String, _ signal: Int32) -> (point: Self, passage: Int, signal: Int32)? {
            guard let value = getenv(name) else { return nil }
            let words = String(cString: value).split(separator: ":")
            guard words.count == 2, let point = Self(rawValue: String(words[0])), let passage = Int(words[1]) else {
                fatalError("\(name) must be POINT:PASSAGE, e.g. after-commit:3")
            }
            return (point, passage, signal)
        }
    }
#else
    extension KillPoint {
        @inlinable
        package func pass() {}
    }
#endif

/// A time in milliseconds, for which a debug build may have another in an environment variable: tests that freeze a process
/// cannot wait that long each time.
package func testable(_ milliseconds: Int64, _ variable: String) -> Int64 {
    #if DEBUG
        if let value = getenv(variable), let milliseconds = Int64(String(cString: value)) { return milliseconds }
    #endif
    return milliseconds
}
