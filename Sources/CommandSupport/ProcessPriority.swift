internal import CLinux
package import CameoModel

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
}
