internal import Glibc

/// For how long a worker may be silent.
package enum Lease {
    /// How long a worker may be silent before its jobs are given to others, in milliseconds. A dead process is seen at
    /// once by its lock; this is for one that hangs.
    package static let milliseconds: Int64 = {
        #if DEBUG
            // Tests freeze workers, and cannot wait for half a minute each time.
            if let value = getenv("CAMEO_TEST_LEASE_MS"), let milliseconds = Int64(String(cString: value)) {
                return milliseconds
            }
        #endif
        return 30_000
    }()
}
