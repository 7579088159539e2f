/// Who may transfer now: at most so many in all and for each origin, the others in the order of their arrival.
///
/// libcurl has limits of its own, but its clocks run while a transfer waits for a connection; here a transfer's time
/// begins when it does.
///
/// Who waits for an origin takes no place in all, but whoever waits holds its job, and a worker has only so many jobs at
/// once. So where the first of an origin's has waited for long, all but a few are sent away.
struct Admission<Waiter> {
    private struct Entry {
        let origin: HTTPURL.Origin
        let since: ContinuousClock.Instant
        let waiter: Waiter
    }

    /// Those who may wait for an origin however slow it is.
    static var patientWaiters: Int { 2 }
    static var longestDelay: Duration { .seconds(60) }

    private let total: Int
    private let perOrigin: Int
    /// How long the first who waits for an origin waits before those behind are sent away.
    private let patience: Duration
    private var active: [HTTPURL.Origin: Int] = [:]
    private var activeTotal = 0
    private var waiting: [Entry] = []
    /// How many were sent away of each origin, less those who have been served since: about as many come back.
    private var sentAway: [HTTPURL.Origin: Int] = [:]

    init(total: Int, perOrigin: Int, patience: Duration) {
        self.total = total
        self.perOrigin = perOrigin
        self.patience = patience
    }

    mutating func enqueue(_ waiter: Waiter, for origin: HTTPURL.Origin, at now: ContinuousClock.Instant = .now) {
        waiting.append(Entry(origin: origin, since: now, waiter: waiter))
    }

    /// The first whose origin has room, which is taken for it until ``release(_:)``; nil if there is none.
    mutating func next() -> Waiter? {
        guard activeTotal < total, let index = waiting.firstIndex(where: { !isFull($0.origin) }) else { return nil }
        let entry = waiting.remove(at: index)
        active[entry.origin, default: 0] += 1
        activeTotal += 1
        return entry.waiter
    }

    mutating func release(_ origin: HTTPURL.Origin) {
        activeTotal -= 1
        let count = active[origin, default: 1] - 1
        active[origin] = count > 0 ? count : nil
        sentAway[origin] = count > 0 ? sentAway[origin].map { max(0, $0 - 1) } : nil
    }

    /// Takes out those who would wait for an origin for long, and says when each may come back: a second for each place
    /// that those before it need.
    mutating func sendAway(at now: ContinuousClock.Instant = .now) -> [(waiter: Waiter, delay: Duration)] {
        let slow = crowded.filter { $0.since + patience <= now }
        guard !slow.isEmpty else { return [] }
        var away: [(waiter: Waiter, delay: Duration)] = []
        var counts: [HTTPURL.Origin: Int] = [:]
        waiting.removeAll { entry in
            guard slow.contains(where: { $0.origin == entry.origin }) else { return false }
            counts[entry.origin, default: 0] += 1
            guard counts[entry.origin, default: 0] > Self.patientWaiters else { return false }
            let before = sentAway[entry.origin, default: 0]
            sentAway[entry.origin] = before + 1
            away.append((entry.waiter, min(.seconds(1 + before / perOrigin), Self.longestDelay)))
            return true
        }
        return away
    }

    /// When somebody is to be sent away if nothing changes.
    var nextDeparture: ContinuousClock.Instant? { crowded.map { $0.since + patience }.min() }

    /// The first who waits for each origin that has no place and more waiters than may be patient.
    private var crowded: [Entry] {
        Dictionary(grouping: waiting, by: \.origin).values
            .filter { $0.count > Self.patientWaiters && isFull($0[0].origin) }.map { $0[0] }
    }

    private func isFull(_ origin: HTTPURL.Origin) -> Bool { active[origin, default: 0] >= perOrigin }

    /// Takes out those who wait and need not any more.
    mutating func removeWaiting(where isUnneeded: (Waiter) -> Bool) -> [Waiter] {
        let removed = waiting.filter { isUnneeded($0.waiter) }.map(\.waiter)
        if !removed.isEmpty { waiting.removeAll { isUnneeded($0.waiter) } }
        return removed
    }
}
