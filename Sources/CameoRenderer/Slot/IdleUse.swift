/// Watches the processor time of an idle child.
struct IdleUse {
    private let start: Duration?
    private var last: Duration?
    /// The time until the next check. It doubles while the child rests, so that an idle worker hardly wakes.
    private(set) var milliseconds: Int32 = 2_000

    private static let longestPause: Int32 = 32_000
    /// The processor time allowed while idle, more than any library's clean-up takes.
    private static let allowance = Duration.seconds(1)

    /// - Parameter used: the child's total processor time when it went idle.
    init(_ used: Duration?) {
        start = used
        last = used
    }

    /// Whether the child, with this total processor time now, has used too much while idle.
    mutating func isTooMuch(_ used: Duration?) -> Bool {
        milliseconds = used == last ? min(2 * milliseconds, Self.longestPause) : 2_000
        last = used
        guard let start, let used else { return false }
        return used - start > Self.allowance
    }
}
