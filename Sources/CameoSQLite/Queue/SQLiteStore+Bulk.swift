internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import GRDB

// DESIGN. Changing thousands of jobs in one transaction would block every worker's settlements meanwhile. Therefore a
// reader finds the jobs one page at a time, upwards by id, and each page is changed in its own transaction, which
// checks again that each job is still in a selected state. Ids beyond the newest one at the start are left alone, so
// that no job is changed twice.

extension SQLiteStore {
    private static let bulkPage = 500

    package func count(_ filter: JobFilter) async throws(StoreError) -> Int {
        try await read { db in try JobSearch(filter).ids(order: .newest, db).count }
    }

    package func change(
        _ filter: JobFilter,
        by change: BulkChange,
        report: (BulkProgress) throws -> Void = { _ in }
    ) async throws -> BulkProgress {
        let newest = try await read { db in try Int64.fetchOne(db.sqlite, sql: "SELECT max(id) FROM job") ?? 0 }
        try await acceptAll(through: newest)
        var progress = BulkProgress(matched: try await count(filter))
        var last: Int64 = 0
        while progress.changed < filter.limit {
            var page = filter
            page.limit = min(Self.bulkPage, filter.limit - progress.changed)
            page.before = min(filter.before ?? .max, newest + 1)
            let search = JobSearch(page, after: last)
            let ids = try await read { db in try search.ids(order: .oldest, db) }
            guard let end = ids.last else { break }
            last = end
            let changed = try await commit { db in try db.change(ids, in: filter.states, by: change) }
            progress.changed += changed
            progress.passed += ids.count - changed
            try report(progress)
        }
        return progress
    }
}
