internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. A row inserted into `job` by SQL is only a request; a trigger notes it in `arrival`. The next Cameo process
// accepts it: the strict parser decides once, and the row either gets a task or ends at once as `request.invalid`. A page
// of rows is read and parsed without a lock. The transaction that accepts them takes their rows of `arrival`, except
// those that another process is accepting, and writes all of them together. If one of them is refused by the tables, each
// gets a savepoint, so that an error of one row does not stop another.

/// What a transaction accepted.
struct Acceptance: Sendable {
    /// The number of rows that were dealt with.
    var count = 0
    /// The jobs that were refused.
    var refused: [LostJob] = []
}

extension PostgreSQLStore {
    /// Accepts the rows of all pages.
    func acceptArrivals() async throws(StoreError) { while try await acceptPage() {} }

    /// Accepts the rows of a page.
    ///
    /// - Returns: whether there may be others.
    package func acceptPage() async throws(StoreError) -> Bool {
        let page = try await read { db in try Arrival.page(db) }
        guard !page.isEmpty else { return false }
        let accepted = try await commit { db in try db.accept(page) }
        refused.withLock { $0 += accepted.refused }
        // Otherwise the rest is another process's.
        return accepted.count > 0
    }
}

extension PostgreSQLTransaction {
    func accept(_ page: [Arrival]) throws -> Acceptance {
        guard !page.isEmpty else { return Acceptance() }
        let taken = try query(
            """
            WITH mine AS (SELECT id FROM arrival WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED)
            DELETE FROM arrival USING mine WHERE arrival.id = mine.id RETURNING arrival.id, \(Self.isAccepted)
            """,
            [SQLArray(page.map(\.id))]
        )
        let mine = Set(try taken.filter { try !$0[1] }.map { try $0[0] as Int64 })
        var acceptance = Acceptance(count: taken.count)
        let rows = page.filter { mine.contains($0.id) }
        do {
            try flush()
            try inSavepoint { try accept(together: rows) }
            for row in rows {
                if case .failure(let error) = row.reading { acceptance.refused.append(try refuse(row.id, error)) }
            }
        } catch  where concernsOneRow(error) {
            acceptance.refused = try rows.compactMap { try accept($0) }
        }
        return acceptance
    }

    /// Whether an arrival is in the queue or has ended. A restore enters jobs as if they were new.
    private static let isAccepted = """
        EXISTS (SELECT 1 FROM task WHERE task.id = arrival.id) OR EXISTS (SELECT 1 FROM outcome WHERE outcome.id = arrival.id)
        """

    private func concernsOneRow(_ error: any Error) -> Bool {
        error is InvalidRequest || (error as? DatabaseError)?.concernsOneRow ?? false
    }

    private func accept(together rows: [Arrival]) throws {
        try findNames(of: rows.compactMap { try? $0.reading.get() })
        let entries = try rows.compactMap { row -> NewTask? in
            guard case .success(let new) = row.reading else { return nil }
            return try newTask(new, as: row.id, createdAt: row.createdAt)
        }
        let waiting = try insert(entries)
        try record(entries)
        // Those whose thumbnails another job is waiting for.
        for entry in entries where !waiting.contains(entry.task.id) { _ = try letWait(entry.task, from: nil) }
        // The ledger is part of the savepoint.
        try flush()
    }

    /// Accepts or refuses one row. An error of the row ends only this row.
    ///
    /// - Returns: the job, if it was refused.
    /// - Throws: errors that concern the store as a whole.
    private func accept(_ arrival: Arrival) throws -> LostJob? {
        do {
            try inSavepoint { try accept(together: [arrival]) }
            if case .failure(let error) = arrival.reading { throw error }
            return nil
        } catch let error as InvalidRequest {
            return try refuse(arrival.id, error)
        } catch let error as DatabaseError where error.concernsOneRow {
            return try refuse(arrival.id, "the store cannot keep the request: \(error.message)")
        }
    }

    private func refuse(_ id: Int64, _ error: InvalidRequest) throws -> LostJob {
        try refuse(id, "the request is invalid: \(error)")
    }
}
