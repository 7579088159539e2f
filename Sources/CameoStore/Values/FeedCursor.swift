package import CameoModel

// DESIGN. The numbers of the feed of changes go back where a store does: when a backup is restored, or a standby is promoted
// that lacks the last commits. What follows then is another epoch of the feed, which has a name and begins after a number.
// A reader from an earlier epoch goes on where the two part, and is told what it saw in vain.
//
// Some clients of server-sent events send the beginning of an id, if the connection was cut within it. Names of epochs begin
// with "0.", so that such a cursor is never beyond the true one.

/// How far a reader has read the feed of changes.
package struct FeedCursor: Hashable, Sendable, CustomStringConvertible {
    /// The epoch in which it read; nil: taken for the present one.
    package let epoch: String?
    /// The number of the last change.
    package let number: Int64

    package init(_ number: Int64, in epoch: String? = nil) { (self.epoch, self.number) = (epoch, number) }

    /// Reads `epoch-number` or `number`, or the beginning of either; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let match = String(text).wholeMatch(of: #/(?:([0-9][^-]*)-([0-9]*)|([0-9]+)(?:\.[^-]*)?)/#)
        guard let match, let number = Int64(match.3 ?? (match.2 == "" ? "0" : match.2 ?? "")) else { return nil }
        self.init(number, in: match.1.map(String.init))
    }

    /// `epoch-number`
    package var description: String { (epoch.map { "\($0)-" } ?? "") + "\(number)" }
}

/// An epoch of the feed, and the number of the last change before it.
package typealias FeedEpoch = (name: String, after: Int64)

/// Changes after a cursor, in commit order, each exactly once.
package struct FeedPage: Sendable {
    /// The cursors before the first of them, and of the last.
    package let start, next: FeedCursor
    package let changes: [JobChange]
    /// The numbers of changes that the reader has missed, because the store keeps them no longer, or saw in vain, because the
    /// store is another or went back; nil: none.
    package let gap: ClosedRange<Int64>?

    /// - Parameters:
    ///   - cursor: nil: the present.
    ///   - epochs: all, oldest first, at least one.
    ///   - newest: the number of the last change.
    ///   - reading: reads changes after a number.
    /// - Throws: what `reading` throws.
    package init<Failure>(
        after cursor: FeedCursor?,
        epochs: [FeedEpoch],
        newest: Int64,
        reading: (Int64) throws(Failure) -> [JobChange]
    ) throws(Failure) {
        let seen = cursor ?? FeedCursor(newest)
        let known = epochs.lastIndex { seen.epoch == nil || $0.name == seen.epoch }
        // Where what the reader knows and what there is part.
        let end = known.flatMap { epochs[($0 + 1)...].map(\.after).min() } ?? newest
        let start = known == nil ? newest : min(seen.number, end)
        changes = try reading(start)
        let kept = changes.first.map { $0.cursor - 1 } ?? start
        self.start = FeedCursor(kept, in: epochs.last?.name)
        next = FeedCursor(changes.last?.cursor ?? start, in: epochs.last?.name)
        // A reader from the beginning wants all that are kept.
        let removed = start == 0 ? 0 : kept
        let (first, last) = known == nil ? (1, newest) : (start + 1, max(seen.number, removed))
        gap = first <= last ? first...last : nil
    }
}
