internal import CameoModel
internal import CameoQueue
package import CameoStore

// DESIGN. Changing thousands of jobs in one transaction would hold up every worker's settlements meanwhile. Therefore a
// reader finds the jobs one page at a time, upwards by id, and each page is changed in its own transaction, which
// locks them in that order and checks again that each job is still in a selected state. Ids beyond the newest one at the
// start are left alone, so that no job is changed twice.

extension PostgreSQLStore {
    private static let bulkPage = 500

    package func count(_ filter: JobFilter) async throws(StoreError) -> Int {
        try await read { db in try JobSearch(filter).ids(order: .newest, db).count }
    }

    package func change(
        _ filter: JobFilter,
        by change: BulkChange,
        report: (BulkProgress) throws -> Void = { _ in }
    ) async throws -> BulkProgress {
        try await acceptArrivals()
        let newest = try await read { db in try db.value("SELECT max(id) FROM job") ?? Int64(0) }
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
