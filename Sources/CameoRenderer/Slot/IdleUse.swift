/// Watches the processor time of a child that has nothing to do.
struct IdleUse {
    private let start: Duration?
    private var last: Duration?
    /// Until the next look. It doubles while the child rests: an idle worker hardly wakes.
    private(set) var milliseconds: Int32 = 2_000

    private static let longestPause: Int32 = 32_000
    /// More than any library's tidying up takes.
    private static let allowance = Duration.seconds(1)

    /// - Parameter used: by the child, in all, when it went idle.
    init(_ used: Duration?) {
        start = used
        last = used
    }

    /// Takes in what the child has used, in all, by now.
    mutating func isTooMuch(_ used: Duration?) -> Bool {
        milliseconds = used == last ? min(2 * milliseconds, Self.longestPause) : 2_000
        last = used
        guard let start, let used else { return false }
        return used - start > Self.allowance
    }
}
