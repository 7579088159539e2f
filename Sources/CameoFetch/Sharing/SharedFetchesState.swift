internal import CameoModel

/// What makes two fetches the same download, byte by byte.
struct SharedFetchKey: Hashable, Sendable {
    private let source: ExactText
    private let headers: [ExactText: ExactText]
    /// An overlay's job holds a picture already: it must not wait for one that waits for room.
    private let purpose: FetchPurpose

    init(source: String, headers: [String: String], purpose: FetchPurpose) {
        self.source = ExactText(source)
        self.headers = Dictionary(uniqueKeysWithValues: headers.map { (ExactText($0.key), ExactText($0.value)) })
        self.purpose = purpose
    }
}

/// The downloads under way and who waits for each. A value under the lock of ``SharedFetches``.
struct SharedFetchesState {
    typealias Waiter = CheckedContinuation<FetchedSource, any Error>

    private struct Download {
        let key: SharedFetchKey
        let ticket: FetchTicket
        let clock: WorkClock
        let task: Task<Void, Never>
        var waiters: [Int: Waiter]
    }

    /// Someone who no longer waits.
    struct Departure {
        let continuation: Waiter
        /// The download that now nobody waits for.
        let abandoned: Task<Void, Never>?
    }

    private var downloads: [Int: Download] = [:]
    /// Of each key the download that began last: an older one can be joined by nobody who may not join this.
    private var newest: [SharedFetchKey: Int] = [:]
    private var lastNumber = 0

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// - Returns: the clock of the download that the ticket may join, for which `waiter` now waits; nil without one.
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

    /// Nil when the waiter does not wait (any more).
    mutating func leave(_ waiter: Int) -> Departure? {
        guard let number = downloads.first(where: { $0.value.waiters[waiter] != nil })?.key,
            let continuation = downloads[number]?.waiters.removeValue(forKey: waiter)
        else { return nil }
        let isAbandoned = downloads[number]?.waiters.isEmpty == true
        return Departure(continuation: continuation, abandoned: isAbandoned ? remove(number)?.task : nil)
    }

    /// Nil for a download that was abandoned before.
    mutating func end(_ number: Int) -> (ticket: FetchTicket, waiters: [Waiter])? {
        remove(number).map { ($0.ticket, Array($0.waiters.values)) }
    }

    private mutating func remove(_ number: Int) -> Download? {
        guard let download = downloads.removeValue(forKey: number) else { return nil }
        if newest[download.key] == number { newest[download.key] = nil }
        return download
    }
}
