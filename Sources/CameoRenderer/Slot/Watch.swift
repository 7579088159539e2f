internal import Glibc

/// poll(2) over a few descriptors.
struct Watch {
    private var entries: [pollfd] = []

    /// Adds a descriptor to be watched for reading and, on request, for writing.
    mutating func add(_ descriptor: Int32, alsoForWriting: Bool = false) {
        let events = alsoForWriting ? POLLIN | POLLOUT : POLLIN
        entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }

    /// Waits until a descriptor is ready or closed; nil milliseconds mean forever. Returns false on timeout.
    @discardableResult
    mutating func wait(milliseconds: Int32?) -> Bool {
        // EINTR is a reason to check again, like any event.
        poll(&entries, nfds_t(entries.count), milliseconds ?? -1) != 0
    }

    func isReady(_ descriptor: Int32) -> Bool { entries.contains { $0.fd == descriptor && $0.revents != 0 } }
}
