internal import Glibc

/// poll(2) over a few descriptors.
struct Watch {
    private var entries: [pollfd] = []

    /// For reading, and on demand for room to write.
    mutating func add(_ descriptor: Int32, alsoForWriting: Bool = false) {
        let events = alsoForWriting ? POLLIN | POLLOUT : POLLIN
        entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }

    /// Waits until a descriptor is ready or closed, without end for nil milliseconds. False if time ran out.
    @discardableResult
    mutating func wait(milliseconds: Int32?) -> Bool {
        // EINTR is a reason to look again, as any other.
        poll(&entries, nfds_t(entries.count), milliseconds ?? -1) != 0
    }

    func isReady(_ descriptor: Int32) -> Bool { entries.contains { $0.fd == descriptor && $0.revents != 0 } }
}
