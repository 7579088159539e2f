package import CameoModel
internal import Foundation

/// The ends of batches as they come, each once. They have no place in the feed of jobs' changes, and are known by their ids.
package struct BatchEndWatch: Sendable {
    /// How far apart two ends may be committed in another order than that of their times, in seconds.
    private static let slack = 60.0
    private static let page = 1_000

    private let store: any ReaderStore
    private var since: Date
    private var known: [String: Date] = [:]

    /// Those after a change that a reader has seen, and perhaps some before it; nil: those from now on.
    package init(_ store: any ReaderStore, after cursor: FeedCursor?) async throws(StoreError) {
        self.store = store
        guard let cursor else {
            since = store.clock.now()
            return
        }
        let seen = FeedCursor(max(0, cursor.number - 1), in: cursor.epoch)
        let change = try await store.changes(since: seen, limit: 1).changes.first
        since = cursor.number == 0 ? Date(milliseconds: 0) : (change?.at ?? store.clock.now()) - Self.slack
    }

    /// The ends since the last call.
    package mutating func next() async throws(StoreError) -> [BatchEnd] {
        var news: [BatchEnd] = []
        while true {
            let ends = try await store.batchEnds(since: since, limit: Self.page)
            news += ends.filter { known.updateValue($0.endedAt, forKey: $0.id) == nil }
            // A full page goes on where it ends.
            let isLast = ends.count < Self.page
            if let last = ends.last { since = max(since, last.endedAt - (isLast ? Self.slack : 0)) }
            if isLast { break }
        }
        known = known.filter { $0.value >= since }
        return news
    }
}
