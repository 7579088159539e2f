internal import CameoModel

/// Identifies fetches that lead to the same download, compared byte by byte.
struct SharedFetchKey: Hashable, Sendable {
    private let source: ExactText
    private let headers: [ExactText: ExactText]
    /// An overlay must not wait for a download that waits for room, since its job already holds a picture.
    private let purpose: FetchPurpose

    init(source: String, headers: [String: String], purpose: FetchPurpose) {
        self.source = ExactText(source)
        self.headers = Dictionary(uniqueKeysWithValues: headers.map { (ExactText($0.key), ExactText($0.value)) })
        self.purpose = purpose
    }
}

/// The downloads under way and their waiters. A value under the lock of ``SharedFetches``.
struct SharedFetchesState {
    typealias Waiter = CheckedContinuation<FetchedSource, any Error>

    private struct Download {
        let key: SharedFetchKey
        let ticket: FetchTicket
        let clock: WorkClock
        let task: Task<Void, Never>
        var waiters: [Int: Waiter]
    }

    /// A waiter that has left.
    struct Departure {
        let continuation: Waiter
        /// The download, if no other waiter is left.
        let abandoned: Task<Void, Never>?
    }

    private var downloads: [Int: Download] = [:]
    /// The latest download of each key. A ticket that may not join it may not join an older one either.
    private var newest: [SharedFetchKey: Int] = [:]
    private var lastNumber = 0

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// - Returns: the clock of the download that `waiter` has joined; nil if there is none to join.
    mutating func join(
        _ key: SharedFetchKey,
        _ ticket: FetchTicket,
        as waiter: Int,
        _ continuation: Waiter
    ) -> WorkClock? {
        guard let number = newest[key], let download = downloads[number], ticket.mayJoin(download.ticket) else {
            return nil
        }
        downloads[number]?.waiters[waiter] = continuation
        return download.clock
    }

    mutating func begin(
        _ number: Int,
        _ key: SharedFetchKey,
        _ ticket: FetchTicket,
        _ clock: WorkClock,
        _ task: Task<Void, Never>,
        for waiter: Int,
        _ continuation: Waiter
    ) {
        downloads[number] = Download(
            key: key,
            ticket: ticket,
            clock: clock,
            task: task,
            waiters: [waiter: continuation]
        )
        newest[key] = number
    }

    /// Removes a waiter. Returns nil if it does not wait (any more).
    mutating func leave(_ waiter: Int) -> Departure? {
        guard let number = downloads.first(where: { $0.value.waiters[waiter] != nil })?.key,
            let continuation = downloads[number]?.waiters.removeValue(forKey: waiter)
        else { return nil }
        let isAbandoned = downloads[number]?.waiters.isEmpty == true
        return Departure(continuation: continuation, abandoned: isAbandoned ? remove(number)?.task : nil)
    }

    /// Removes a finished download and returns its waiters; nil if it was abandoned before.
    mutating func end(_ number: Int) -> (ticket: FetchTicket, waiters: [Waiter])? {
        remove(number).map { ($0.ticket, Array($0.waiters.values)) }
    }

    private mutating func remove(_ number: Int) -> Download? {
        guard let download = downloads.removeValue(forKey: number) else { return nil }
        if newest[download.key] == number { newest[download.key] = nil }
        return download
    }
}
