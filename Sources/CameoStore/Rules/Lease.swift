internal import Glibc

package enum Lease {
    /// How long a worker may be silent before its jobs are rescued, in milliseconds. This detects a process that hangs;
    /// a dead one is detected at once by its lock.
    package static let milliseconds: Int64 = {
        #if DEBUG
            // Tests freeze workers and cannot wait half a minute each time.
            if let value = getenv("CAMEO_TEST_LEASE_MS"), let milliseconds = Int64(String(cString: value)) {
                return milliseconds
            }
        #endif
        return 30_000
    }()
}
