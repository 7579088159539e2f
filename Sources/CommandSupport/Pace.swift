/// How fast things have gone lately: over the last minute, as `cameo-status batch` reckons, and not counting what was done
/// before anybody looked.
struct Pace {
    private static let window = Duration.seconds(60)
    private var looks: [(time: ContinuousClock.Instant, done: Int)] = []

    mutating func note(_ done: Int, at time: ContinuousClock.Instant) {
        if looks.count > 1, looks[looks.count - 2].time.duration(to: time) < .milliseconds(250) { looks.removeLast() }
        looks.append((time, done))
        while looks.count > 2, looks[1].time.duration(to: time) >= Self.window { looks.removeFirst() }
    }

    /// A second.
    var rate: Double {
        guard let first = looks.first, let last = looks.last else { return 0 }
        let seconds = first.time.duration(to: last.time) / .seconds(1)
        return seconds > 0 ? Double(last.done - first.done) / seconds : 0
    }
}
