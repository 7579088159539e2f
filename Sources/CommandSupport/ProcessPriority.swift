internal import CLinux
package import CameoModel
internal import Glibc

/// How much of the machine this process and the programs that it starts leave to others.
package enum ProcessPriority {
    /// Sets the nice value, -20 to 19; only root can lower it.
    package static func setNice(_ value: Int) throws(Errno) {
        guard cameo_set_nice(CInt(value)) == 0 else { throw Errno() }
    }

    /// Uses disks only when no other process does, where their schedulers honour that.
    package static func useIdleDisk() throws(Errno) {
        guard cameo_set_idle_io() == 0 else { throw Errno() }
    }

    /// Raises the limit on open files, which shells set to 1,024, if it is lower.
    ///
    /// - Returns: the limit, which is lower than what was wanted if the hard limit is.
    @discardableResult
    package static func allowOpenFiles(_ wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        if limit.rlim_cur < rlim_t(wanted) {
            limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
