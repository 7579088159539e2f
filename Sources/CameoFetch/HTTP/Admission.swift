/// Admits transfers up to a limit in total and for each origin, in the order of their arrival.
///
/// libcurl has such limits too, but its clocks run while a transfer waits for a connection; here the time of a transfer
/// begins with its admission.
///
/// A transfer that waits for its origin does not count towards the total, but it occupies one of the worker's jobs. So if
/// the first transfer in an origin's queue has waited too long, all but a few behind it are turned away.
struct Admission {
    private struct Entry {
        let arrival: Mailbox.Arrival
        let since = ContinuousClock.now
        var origin: HTTPURL.Origin { arrival.request.url.origin }
    }

    /// The number of transfers that may wait for an origin however slow it is.
    static let patientWaiters = 2
    static let longestDelay = Duration.seconds(60)

    private let total: Int
    private let perOrigin: Int
    /// How long the first in an origin's queue waits before those behind it are turned away.
    private let patience: Duration
    private var active: [HTTPURL.Origin: Int] = [:]
    private var activeTotal = 0
    private var waiting: [Entry] = []
    /// The number of transfers turned away from each origin, minus those served since: about as many will come back.
    private var sentAway: [HTTPURL.Origin: Int] = [:]

    init(total: Int, perOrigin: Int, patience: Duration) {
        (self.total, self.perOrigin, self.patience) = (total, perOrigin, patience)
    }

    mutating func enqueue(_ arrival: Mailbox.Arrival) { waiting.append(Entry(arrival: arrival)) }

    /// Admits the first transfer whose origin has a free slot, until ``release(_:)``; nil if there is none.
    mutating func next() -> Mailbox.Arrival? {
        guard activeTotal < total, let index = waiting.firstIndex(where: { !isFull($0.origin) }) else { return nil }
        let entry = waiting.remove(at: index)
        active[entry.origin, default: 0] += 1
        activeTotal += 1
        return entry.arrival
    }

    mutating func release(_ origin: HTTPURL.Origin) {
        activeTotal -= 1
        let count = active[origin, default: 1] - 1
        active[origin] = count > 0 ? count : nil
        sentAway[origin] = count > 0 ? sentAway[origin].map { max(0, $0 - 1) } : nil
    }

    /// Removes the transfers that would wait too long for their origin, with the delay after which each may come back: a
    /// second for each round of slots before it.
    mutating func sendAway() -> [(arrival: Mailbox.Arrival, delay: Duration)] {
        let now = ContinuousClock.now
        let slow = crowded.filter { $0.since + patience <= now }
        guard !slow.isEmpty else { return [] }
        var away: [(arrival: Mailbox.Arrival, delay: Duration)] = []
        var counts: [HTTPURL.Origin: Int] = [:]
        waiting.removeAll { entry in
            guard slow.contains(where: { $0.origin == entry.origin }) else { return false }
            counts[entry.origin, default: 0] += 1
            guard counts[entry.origin, default: 0] > Self.patientWaiters else { return false }
            let before = sentAway[entry.origin, default: 0]
            sentAway[entry.origin] = before + 1
            away.append((entry.arrival, min(.seconds(1 + before / perOrigin), Self.longestDelay)))
            return true
        }
        return away
    }

    /// When the next transfer is turned away if nothing changes.
    var nextDeparture: ContinuousClock.Instant? { crowded.map { $0.since + patience }.min() }

    /// The first in the queue of each full origin that has more waiters than may stay.
    private var crowded: [Entry] {
        Dictionary(grouping: waiting, by: \.origin).values
            .filter { $0.count > Self.patientWaiters && isFull($0[0].origin) }.map { $0[0] }
    }

    private func isFull(_ origin: HTTPURL.Origin) -> Bool { active[origin, default: 0] >= perOrigin }

    /// Removes waiters that are no longer needed.
    mutating func removeWaiting(where isUnneeded: (Mailbox.Arrival) -> Bool) -> [Mailbox.Arrival] {
        // Each is asked once: it may become unneeded between two questions.
        var removed: [Mailbox.Arrival] = []
        waiting.removeAll { entry in
            guard isUnneeded(entry.arrival) else { return false }
            removed.append(entry.arrival)
            return true
        }
        return removed
    }
}
