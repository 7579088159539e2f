internal import CameoModel
internal import Foundation

// DESIGN. A URL that is signed with the present time differs from the one of a second before, so that no cache finds its
// answer again. So time is divided into windows, half as long as a URL is valid, and a URL is signed with the beginning
// of its window: all programs make the same URL of an object within a window, and at least half of its time is left.

/// The time of a signed URL's signature, and for how long it is valid.
struct SigningWindow: Hashable, Sendable {
    let start: Date
    /// From the start on.
    let seconds: Int

    /// - Parameters:
    ///   - lifetime: how long the URL is valid at most; it becomes a second to seven days.
    ///   - now: by the server's clock.
    ///   - end: when the credentials end, if that is known.
    init(lifetime: Duration, now: Date, credentialsEnd end: Date?) {
        let wanted = min(max(1, lifetime.milliseconds / 1_000), RequestSigner.longestLifetime)
        let step = Double(max(1, wanted / 2))
        let start = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / step).rounded(.down) * step)
        let left = end.map { Int($0.timeIntervalSince(start).rounded(.down)) } ?? wanted
        (self.start, seconds) = (start, min(wanted, max(1, left)))
    }

    /// How long the URL is valid from a time on.
    func remaining(at now: Date) -> Duration {
        .seconds(max(0, start.addingTimeInterval(Double(seconds)).timeIntervalSince(now)))
    }
}
