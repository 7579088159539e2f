/// A database of another program with attached tables. Their triggers note changes there, which a process moves into the store,
/// and each table has a mirror that shows what became of them.
package protocol FollowedDatabase: Sendable {
    var path: String { get }
    /// A number that changes with each commit of others.
    func version() async throws(StoreError) -> Int64
    /// Finds a table.
    ///
    /// - Throws: ``StoreError/refused(reason:)``
    func table(_ name: String) async throws(StoreError) -> FollowedTable
    /// Makes the triggers and the mirror of an attachment, or makes them anew.
    func follow(_ attachment: Attachment) async throws(StoreError)
    func unfollow(_ attachment: Attachment) async throws(StoreError)
    /// Why changes of the table are not noted; nil if they are.
    func trouble(of attachment: Attachment) async throws(StoreError) -> String?
    /// The first changes that were not removed, in their order.
    func changes(of attachment: Attachment, limit: Int) async throws(StoreError) -> [FollowedRow]
    func remove(changesOf attachment: Attachment, through last: Int64) async throws(StoreError)
    /// The rows after a key, in the order of the keys.
    func rows(of attachment: Attachment, after key: String?, limit: Int) async throws(StoreError) -> [FollowedRow]
    /// Notes the rows after a key as if they had been changed, in the order of the keys. The last is nil if there are no others.
    func note(rowsOf attachment: Attachment, after key: String?, limit: Int) async throws(StoreError) -> (
        rows: Int, last: String?
    )
    /// Notes for those of the keys that no row has that it is gone.
    func note(missing keys: [String], of attachment: Attachment) async throws(StoreError)
    /// Those of the keys that no row has.
    func missing(of keys: [String], in attachment: Attachment) async throws(StoreError) -> [String]
    /// The keys after another of rows of the mirror that wait for something.
    func unfinished(of attachment: Attachment, after key: String?, limit: Int) async throws(StoreError) -> [String]
    /// Writes rows of the mirror, JSON by key, with the columns of the attachment's view, if the table has such rows.
    func show(_ rows: [String: String], in attachment: Attachment) async throws(StoreError)
}

/// Follows a table in another program's database.
package struct TableFollower: Sendable {
    private static let page = 200

    package let store: any OperatorStore
    package let database: any FollowedDatabase
    package let attachment: Attachment

    package init(_ attachment: Attachment, in database: any FollowedDatabase, for store: any OperatorStore) {
        (self.attachment, self.database, self.store) = (attachment, database, store)
    }

    // DESIGN. Changes are moved in their order, and removed there when the store has them. A process that ends in between leaves
    // some for the next, which moves them again: they say what the rows have, so that twice is as once. One that was slower than
    // another is told by the count of moves, which it has read before the changes, and not by their numbers: those begin again in
    // a file that was made anew or restored.

    /// Moves all changes that were noted.
    ///
    /// - Returns: how many.
    @discardableResult
    package func move() async throws -> Int {
        var moved = 0
        while true {
            let moves = try await store.moves(of: attachment.name)
            let changes = try await database.changes(of: attachment, limit: Self.page)
            guard let last = changes.last?.change else { return moved }
            try Task.checkCancellation()
            guard try await store.hand(changes, of: attachment.name, after: moves) else { continue }
            moved += changes.count
            try await database.remove(changesOf: attachment, through: last)
            try await store.acceptAll()
            try await show(changes.map(\.key))
        }
    }

    /// Brings some rows of the mirror up to date that wait for something.
    ///
    /// - Returns: the last of them; nil if there are no others.
    package func showUnfinished(after key: String?) async throws -> String? {
        let keys = try await database.unfinished(of: attachment, after: key, limit: Self.page)
        try await show(keys)
        return keys.count == Self.page ? keys.last : nil
    }

    private func show(_ keys: [String]) async throws {
        guard !keys.isEmpty else { return }
        try await database.show(store.shown(keys, of: attachment.name), in: attachment)
    }

    /// Reads all rows, and what the store has of rows that are gone; `report` is called with how many were read.
    package func fill(report: (Int) -> Void) async throws {
        var (rows, last) = (0, String?.none)
        repeat {
            let step = try await database.note(rowsOf: attachment, after: last, limit: Self.page)
            try await move()
            rows += step.rows
            report(rows)
            last = step.last
        } while last != nil
        repeat {
            let keys = try await store.keys(of: attachment.name, after: last, limit: Self.page)
            try await database.note(missing: keys, of: attachment)
            try await move()
            last = keys.count == Self.page ? keys.last : nil
        } while last != nil
        try await store.noteFilled(attachment.name)
    }

    /// Compares all rows with what the store has; `report` is called with how many were read.
    package func compare(report: @Sendable (Int) -> Void) async throws -> AttachmentCounts {
        var (counts, last, orphaned) = (AttachmentCounts(), String?.none, 0)
        repeat {
            let rows = try await database.rows(of: attachment, after: last, limit: Self.page)
            counts += try await store.compare(rows, of: attachment.name)
            report(counts.rows)
            last = rows.count == Self.page ? rows.last?.key : nil
        } while last != nil
        repeat {
            let keys = try await store.keys(of: attachment.name, after: last, limit: Self.page)
            orphaned += try await database.missing(of: keys, in: attachment).count
            last = keys.count == Self.page ? keys.last : nil
        } while last != nil
        var known = try await store.compareAttachment(attachment.name) { _ in }
        (known.rows, known.missing, known.stale, known.orphaned) = (counts.rows, counts.missing, counts.stale, orphaned)
        return known
    }
}
