import CameoModel
import CameoStore
import Foundation

@testable import CameoPostgreSQL

extension StoreFixture {
    /// The counts that disagree with the rows that they count, one a line; empty if all are right.
    func wrongCounts() async throws -> String {
        let states = JobState.allCases.map { state in
            """
            SELECT 'queue ' || queue.name || ' \(state.rawValue)', \(state.rawValue),
              (SELECT count(*) FROM \(state.isFinal ? "outcome" : "task") AS row
                WHERE row.queue = queue.id AND row.state = \(state.code))
            FROM queue JOIN queue_total ON queue_total.queue = queue.id
            """
        }
        let totals = [
            ("blobs", "count(*) FROM blob"), ("blob_bytes", "coalesce(sum(size), 0) FROM blob"),
            ("thumbnails", "count(*) FROM thumbnail"), ("sources", "count(*) FROM source WHERE NOT pinned"),
            ("source_bytes", "coalesce(sum(size), 0) FROM source WHERE NOT pinned"),
        ]
        .map { name, actual in "SELECT '\(name)', value, (SELECT \(actual)) FROM total_now WHERE name = '\(name)'" }
        return try await sql(
            """
            SELECT * FROM (\((states + totals).joined(separator: " UNION ALL "))) AS count(name, counted, actual)
            WHERE counted <> actual
            """
        )
    }
}
