internal import CameoStore
internal import GRDB

/// A walk along an index that meets each entry once, also those that stay.
protocol IndexWalk: Sendable {
    associatedtype Entry: Sendable

    /// The last entry that was met, behind which the next page begins.
    var last: Entry? { get set }
    /// Whether nothing is ahead.
    var isOver: Bool { get set }

    /// Those behind the last one.
    func entries(_ db: Database, limit: Int) throws -> [Entry]

    func isToGo(_ entry: Entry) -> Bool
}

extension SQLiteStore {
    /// Entries that one look walks over, at most.
    static let prunePage = 1_000

    /// Those of the next page that are to go; nil at the end.
    func next<Walk: IndexWalk>(of walk: inout Walk) async throws(StoreError) -> [Walk.Entry]? {
        guard !walk.isOver else { return nil }
        let here = walk
        let entries = try await read { db in try here.entries(db, limit: Self.prunePage) }
        walk.last = entries.last
        walk.isOver = entries.count < Self.prunePage
        return entries.filter(here.isToGo)
    }
}
