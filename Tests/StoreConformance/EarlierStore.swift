import CameoModel
package import CameoStore
package import Foundation
internal import TestSupport
import Testing

// DESIGN. The stores in the folder `Stores` were made by the build of 25 November 2026 (schema 2 of SQLite, 1 of PostgreSQL)
// with its own commands, and dumped by `sqlite3 .dump` and `pg_dump --no-owner`. They have a job in each state: 1 completed,
// 2 discarded, 3 scheduled, 4 available with a key and a hook, 5 cancelled, 6 in a paused queue, 7 and 8 inserted by SQL.

/// A store that an earlier version made.
package enum EarlierStore: String {
    case sqlite = "sqlite-2"
    case postgresql = "postgresql-1"

    /// The statements that make it.
    package func dump() async throws -> Data {
        let file = Repository.file("Tests/StoreConformance/Stores/\(rawValue).sql.gz").path
        return try await run("gzip", ["-dc", file]).standardOutput
    }

    /// Makes a gap in the feed, as a retention did after the clock had been wrong.
    package var breakingTheFeed: String {
        switch self {
        case .sqlite: "DELETE FROM change WHERE seq = (SELECT max(seq) - 3 FROM change);"
        case .postgresql:
            "UPDATE cameo.change SET last = last + 5 WHERE last = 2; UPDATE cameo.feed SET last = last + 5;"
        }
    }

    /// Checks that everything is there, and goes on.
    package static func expectItGoesOn(_ store: any Store) async throws {
        try await store.register(
            WorkerDescription(
                id: "w1",
                host: "h",
                pid: 1,
                version: "test",
                concurrency: 9,
                lacks: [.writing(.avif)]
            )
        )
        let claimed = try await store.claim(limit: 9, for: "w1")
        #expect(claimed.map(\.claim.jobID).sorted() == [4, 7, 8])
        let jobs = try await store.jobs(JobFilter()).sorted { $0.id < $1.id }
        #expect(
            jobs.map(\.state) == [
                .completed, .discarded, .scheduled, .running, .cancelled, .available, .running, .running,
            ]
        )
        let cursors = try await store.changes(since: 0, limit: .max).map(\.cursor)
        let first = try #require(cursors.first)
        #expect(first > 1 && cursors == Array(first..<first + Int64(cursors.count)), "\(cursors)")
        let whole = try await store.job(1)
        #expect(whole.batch == "holiday" && whole.attempts?.count == 1)
        let thumbnail = try #require(whole.thumbnails.first)
        #expect(try await store.data(of: thumbnail.uri).starts(with: Data("RIFF".utf8)))
        #expect(try await store.job(2).failure?.code == .imageUnsupportedFormat)
        #expect(try await store.status().queues.first { $0.name == "slow" }?.paused == true)
        for job in claimed { try await store.release(job.claim) }
        let findings = try await store.check { _ in }.filter { $0.severity == .error }
        #expect(findings.isEmpty, "\(findings)")
    }
}
