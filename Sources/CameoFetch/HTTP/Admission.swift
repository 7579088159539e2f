/// Who may transfer now: at most so many in all and for each origin, the others in the order of their arrival.
///
/// libcurl has limits of its own, but its clocks run while a transfer waits for a connection; here a transfer's time
/// begins when it does.
struct Admission<Waiter> {
    private let total: Int
    private let perOrigin: Int
    private var active: [HTTPURL.Origin: Int] = [:]
    private var activeTotal = 0
    private var waiting: [(origin: HTTPURL.Origin, waiter: Waiter)] = []

    init(total: Int, perOrigin: Int) {
        self.total = total
        self.perOrigin = perOrigin
    }

    mutating func enqueue(_ waiter: Waiter, for origin: HTTPURL.Origin) {
        waiting.append((origin, waiter))
    }

    /// The first whose origin has room, which is taken for it until ``release(_:)``; nil if there is none.
    mutating func next() -> Waiter? {
        guard activeTotal < total,
            let index = waiting.firstIndex(where: { active[$0.origin, default: 0] < perOrigin })
        else { return nil }
        let (origin, waiter) = waiting.remove(at: index)
        active[origin, default: 0] += 1
        activeTotal += 1
        return waiter
    }

    mutating func release(_ origin: HTTPURL.Origin) {
        activeTotal -= 1
        let count = active[origin, default: 1] - 1
        active[origin] = count > 0 ? count : nil
    }

    /// Takes out those who wait and need not any more.
    mutating func removeWaiting(where isUnneeded: (Waiter) -> Bool) -> [Waiter] {
        let removed = waiting.filter { isUnneeded($0.waiter) }.map(\.waiter)
        if !removed.isEmpty { waiting.removeAll { isUnneeded($0.waiter) } }
        return removed
    }
}
