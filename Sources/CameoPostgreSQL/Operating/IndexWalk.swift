internal import CameoStore

/// A paged scan of an index that visits each entry once, including those that stay.
protocol IndexWalk: Sendable {
    associatedtype Entry: Sendable

    /// The last entry visited; the next page begins after it.
    var last: Entry? { get set }
    /// Whether the scan has reached the end.
    var isOver: Bool { get set }

    /// The entries after the last one.
    func entries(_ db: Database, limit: Int) throws -> [Entry]

    func isRemovable(_ entry: Entry) -> Bool
}

extension PostgreSQLStore {
    /// The maximum number of entries per page.
    static let prunePage = 1_000

    /// The removable entries of the next page; nil at the end.
    func next<Walk: IndexWalk>(of walk: inout Walk) async throws(StoreError) -> [Walk.Entry]? {
        guard !walk.isOver else { return nil }
        let here = walk
        let entries = try await read { db in try here.entries(db, limit: Self.prunePage) }
        walk.last = entries.last
        walk.isOver = entries.count < Self.prunePage
        return entries.filter(here.isRemovable)
    }
}
