internal import Glibc

/// poll(2) over a few descriptors.
struct Watch {
    private var entries: [pollfd] = []

    mutating func add(_ descriptor: Int32) {
        entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    /// Waits until a descriptor is readable or closed.
    /// - Parameter milliseconds: nil waits without end.
    mutating func wait(milliseconds: Int32?) {
        // EINTR is a reason to look again, as any other.
        _ = poll(&entries, nfds_t(entries.count), milliseconds ?? -1)
    }

    func isReady(_ descriptor: Int32) -> Bool { entries.contains { $0.fd == descriptor && $0.revents != 0 } }
}
