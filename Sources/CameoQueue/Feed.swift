internal import CameoModel
package import CameoStore
internal import Foundation

/// The feed of changes of jobs' states.
extension QueueTransaction {
    package func feed(after cursor: FeedCursor?, limit: Int) throws -> FeedPage {
        try FeedPage(after: cursor, epochs: epochs(), newest: lastChange()) { start in
            limit > 0 ? try changes(after: start, limit: limit) : []
        }
    }

    /// The number of the last change; 0 if there is none.
    package func lastChange() throws -> Int64 {
        try value(dialect.lastChange) ?? 0
    }

    private func changes(after number: Int64, limit: Int) throws -> [JobChange] {
        // The names of batches have no line feeds.
        try query(
            """
            SELECT seq, fed.job_id AS job_id, fed.state AS state, at,
              (SELECT name FROM queue WHERE id = coalesce(
                (SELECT queue FROM accepted WHERE accepted.id = fed.job_id),
                (SELECT queue FROM outcome WHERE outcome.id = fed.job_id))) AS queue,
              (SELECT \(dialect.lines("name", by: "batch")) FROM batch_job \(dialect.indexed(by: "batch_job_id"))
                JOIN batch ON batch.id = batch_job.batch WHERE batch_job.job_id = fed.job_id) AS batches
            FROM \(dialect.changesAfter) AS fed
            ORDER BY seq
            """,
            [number, limit]
        )
        .map { row in
            JobChange(
                cursor: try row["seq"],
                job: try row["job_id"],
                state: try JobState(code: row["state"]),
                at: Date(milliseconds: try row["at"]),
                queue: try row["queue"],
                batches: try (row["batches"] as String?)?.split(separator: "\n").map(String.init)
            )
        }
    }

    /// The first epoch has no row. Another's label is its time, in milliseconds since 1970, and its name; its value the number of
    /// the last change before it. All who number changes may write this table.
    private var epochRows: String { "FROM counter WHERE family = 'feed'" }

    /// The label of the last one, as SQL.
    package var lastEpoch: String { "SELECT max(label) \(epochRows)" }

    /// The epochs of the feed, oldest first.
    package func epochs() throws -> [FeedEpoch] {
        try [("0", 0)]
            + query("SELECT label, value \(epochRows) ORDER BY label").map { row in
                (String(try (row["label"] as String).dropFirst(14)), try row["value"])
            }
    }

    /// Begins an epoch of the feed after a change, because what other stores or servers know of this one may have been lost.
    /// If others may have seen its counters, these begin anew: a monitor takes a number that is lower for one that was 0.
    package func beginEpoch(_ name: String, after number: Int64, resettingCounters resets: Bool) throws {
        let begun = try (value(lastEpoch) as String?).flatMap { Int64($0.prefix(13)) }
        let label = "\(max(now, (begun ?? 0) + 1)) \(name)"
        try execute("INSERT INTO counter(family, label, value) VALUES ('feed', ?1, ?2)", [label, number])
        if resets { try resetCounters() }
    }
}
