/// The recent rate of progress: over the last minute, as in `cameo-status batch`, excluding what was done before the
/// first observation.
struct Pace {
    private static let window = Duration.seconds(60)
    private var looks: [(time: ContinuousClock.Instant, done: Int)] = []

    mutating func note(_ done: Int, at time: ContinuousClock.Instant) {
        if looks.count > 1, looks[looks.count - 2].time.duration(to: time) < .milliseconds(250) { looks.removeLast() }
        looks.append((time, done))
        while looks.count > 2, looks[1].time.duration(to: time) >= Self.window { looks.removeFirst() }
    }

    /// Items per second.
    var rate: Double {
        guard let first = looks.first, let last = looks.last else { return 0 }
        let seconds = first.time.duration(to: last.time) / .seconds(1)
        return seconds > 0 ? Double(last.done - first.done) / seconds : 0
    }
}
