internal import Glibc
internal import Synchronization

// DESIGN. A worker killed at a random moment nearly always dies while it renders, since that is where its time goes. The
// moments that matter for what the store promises last microseconds, so they have names, and a test has the worker kill
// itself at the one it wants: `CAMEO_TEST_KILL_POINT=after-commit:3` is the third passage of that point. By SIGKILL, so
// that nothing can be put in order. `CAMEO_TEST_FREEZE_POINT` in the same form stops it there instead, until SIGCONT.
// Debug builds only.

/// Moments in the life of a job at which a worker's death is interesting, in their order.
package enum KillPoint: String, CaseIterable, Sendable {
    /// Its claim is committed, and nothing of it has begun.
    case afterClaim = "after-claim"
    /// Its source is open, and not read to the end.
    case midFetch = "mid-fetch"
    /// A renderer has it whole.
    case midRender = "mid-render"
    /// The bytes of a thumbnail are safe in a file that no row names yet.
    case afterBlobSync = "after-blob-sync"
    /// All rows of its completion are written, and not committed.
    case insideTransaction = "inside-transaction"
    /// Its completion is durable, and the worker has not heard of it.
    case afterCommit = "after-commit"
}

#if DEBUG
    extension KillPoint {
        /// Does nothing, unless a test chose this passage to be the process's last.
        package func pass() {
            guard let chosen = Self.chosen, chosen.point == self,
                Self.passages.add(1, ordering: .relaxed).newValue == chosen.passage
            else { return }
            // To this thread: a signal to the process may stop another thread first, while this one goes on for a while.
            raise(chosen.signal)
        }

        private static let passages = Atomic<Int>(0)

        private static let chosen =
            choice("CAMEO_TEST_KILL_POINT", SIGKILL) ?? choice("CAMEO_TEST_FREEZE_POINT", SIGSTOP)

        private static func choice(_ name: String, _ signal: Int32) -> (point: Self, passage: Int, signal: Int32)? {
            guard let value = getenv(name) else { return nil }
            let words = String(cString: value).split(separator: ":")
            guard words.count == 2, let point = Self(rawValue: String(words[0])), let passage = Int(words[1]) else {
                fatalError("\(name) must be POINT:PASSAGE, as after-commit:3")
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
