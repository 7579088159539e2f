internal import Foundation

// DESIGN. A store that moves is closed, from the beginning of the move on: what was enqueued in it meanwhile could be lost
// otherwise. A mark in the version of its tables, which every transaction reads anyway, tells all programs, also those
// of versions that know of no moves: they take it for a newer version of the tables. A trigger refuses SQL that enqueues.
// The store that moved stays closed, as the place that names the other; it can still be read. The other is closed until
// all is there and was compared. So at no time is there more than one open store, and `cancel` reopens the first.

/// A move of a store, as each of the two stores records it.
package struct StoreMove: Hashable, Sendable {
    package enum Direction: String, Sendable {
        case away, here
    }

    package let direction: Direction
    /// The same in both stores.
    package let id: String
    /// The location of the other store.
    package let place: String
    /// Whether all is done.
    package let isEnded: Bool
    /// The kind of the records that arrived last, and how far they have come; nil: none have.
    package let position: Position?

    package struct Position: Hashable, Sendable {
        package let kind: RecordKind
        /// The last record of the kind; nil: all are there.
        package let cursor: StoreCursor?

        package init(kind: RecordKind, cursor: StoreCursor?) {
            self.kind = kind
            self.cursor = cursor
        }
    }

    package init(direction: Direction, id: String, place: String, isEnded: Bool, position: Position? = nil) {
        self.direction = direction
        self.id = id
        self.place = place
        self.isEnded = isEnded
        self.position = position
    }

    /// What somebody is told who wants to use the store.
    package var refusal: String {
        switch direction {
        case .away where isEnded: "it has moved to \(place)"
        case .away: "it is moving to \(place); `cameo-admin migrate` goes on with that, and --cancel gives it up"
        case .here: "\(place) is moving here; `cameo-admin migrate` goes on with that"
        }
    }

    /// What a producer is told whose SQL would enqueue a job.
    package var refusalOfJobs: String {
        switch direction {
        case .away: "this store has moved: enqueue in \(place)"
        case .here: "this store is closed until \(place) has moved here"
        }
    }

    package func error(at location: String) -> StoreError { .cannotOpen(path: location, reason: refusal) }
}
