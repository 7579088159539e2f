internal import Glibc

/// How long a worker may be silent before its jobs are rescued.
package enum Lease {
    /// On one machine, in milliseconds. This detects a process that hangs; a dead one is detected at once by its lock.
    package static let milliseconds = duration(30_000)
    /// Among machines, in milliseconds. Nothing else tells that a worker is dead.
    package static let betweenMachines = duration(15_000)

    private static func duration(_ milliseconds: Int64) -> Int64 {
        #if DEBUG
            // Tests freeze workers and cannot wait half a minute each time.
            if let value = getenv("CAMEO_TEST_LEASE_MS"), let milliseconds = Int64(String(cString: value)) {
                return milliseconds
            }
        #endif
        return milliseconds
    }
}
