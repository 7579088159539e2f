internal import CameoModel
internal import CameoStore

// DESIGN. The feed is in commit order, names every change once, and its numbers have no gaps: a reader that sees one knows
// that something was pruned, and a status counts the changes of a period by subtraction. No sequence gives this, because a
// transaction takes its numbers before it commits. Three ways do, and two of them cost what a fleet cannot pay:
//
// - Numbers taken under a lock that is held until the commit make all commits of all workers wait for one another's disk.
// - A cursor of (transaction id, number), read only below `pg_snapshot_xmin(pg_current_snapshot())`, stands still while any
//   transaction of the whole server is open, even one of another database; it has gaps; and a restored dump begins anew.
// - So writers append to `new_change` without a number, and a transaction of its own moves what has been committed to
//   `change`, and numbers it under a row lock. Nobody waits for it but other readers of the feed. Readers do this when
//   they find unnumbered changes, and workers every second, so that no reader finds many.
//
// What one job went through stays in order: the later change was entered after the earlier had committed, because both
// wrote the job's task, so that it has the higher `entry` and is never moved without it.

/// The changes of jobs' states, and their numbers.
enum ChangeFeed {
    /// The maximum number of changes that one transaction numbers.
    static let page = 5_000

    /// Whether there are changes without a number.
    static func hasNewChanges(_ db: Database) throws -> Bool {
        try db.value("SELECT EXISTS (SELECT 1 FROM new_change)") ?? false
    }

    /// Numbers up to a page of the committed changes that have no number. The transaction must be a short one of its own.
    ///
    /// - Returns: how many.
    static func number(_ db: Database) throws -> Int {
        // The next statement sees everything that was committed when this one had the lock.
        try db.execute("SELECT value FROM sequence WHERE name = 'change' FOR UPDATE")
        return try db.execute(
            """
            WITH moved AS (
              DELETE FROM new_change WHERE entry IN (SELECT entry FROM new_change ORDER BY entry LIMIT $1)
              RETURNING entry, job_id, state, at),
            last AS (
              UPDATE sequence SET value = value + (SELECT count(*) FROM moved) WHERE name = 'change' RETURNING value)
            INSERT INTO change(seq, job_id, state, at)
            SELECT last.value - count(*) OVER () + row_number() OVER (ORDER BY entry), job_id, state, at FROM moved, last
            """,
            [page]
        )
    }
}
