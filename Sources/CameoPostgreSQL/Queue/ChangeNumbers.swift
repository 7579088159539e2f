internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Synchronization

// DESIGN. The feed is in commit order, names every change once, and its numbers have no gaps: a reader that sees one knows
// that something was pruned, and a status counts the changes of a period by subtraction. A sequence's numbers are taken
// before the commit; a lock until the commit would make all wait for one another's disk; and a cursor of transaction ids
// stands still while any transaction of the server is open. So writers append to `new_change`, an entry for each
// transaction and without a number, and a transaction of its own moves the entries that have been committed to `change`,
// and numbers them under a row lock: an entry has the number of its last change, and the others come before it. Readers
// do this when they find unnumbered changes, and workers every second, so that no reader finds many.
//
// What one job went through stays in order: the later change was entered after the earlier had committed, because both
// wrote the job's task, so that it has the higher `entry` and is never moved without it.
//
// Rows that were moved stay behind as dead ones until a vacuum, and for hours while somebody copies the database. So that
// no scan passes over them, `feed.low` follows: no row up to it will ever be seen again. When changes are numbered, the
// last `entry` issued is noted (`next_low`) and then the first transaction that had not begun (`next_xid`), whose entries
// can only be higher. Once all transactions before that one have ended, and what they entered is numbered, `low` moves
// there. A transaction of this engine has its number before it enters anything (``StoreTables``).

/// The numbers of the changes of jobs' states.
enum ChangeNumbers {
    /// When a transaction that numbers changes leaves the rest to the next: after so many entries or changes.
    private static let page = (entries: 500, changes: 5_000)
    /// How long changes stay without a number if nobody reads them, in milliseconds.
    static let rest: Int64 = 100

    /// The epoch of the feed, as SQL: a failover has another timeline, an upgrade another server, and a dump that was restored
    /// another table.
    private static let epoch = """
        concat('0.', (SELECT system_identifier FROM pg_control_system()), '.',
          left(pg_walfile_name(pg_current_wal_lsn()), 8), '.', 'feed'::regclass::oid)
        """

    /// The condition that there are changes without a number that were entered at a time or before.
    static func areThere(enteredBy time: String = "\(Int64.max)") -> String {
        """
        EXISTS (
          SELECT 1 FROM (
            SELECT at FROM new_change WHERE entry > (SELECT low FROM feed) ORDER BY entry LIMIT 1) AS first
          WHERE at <= \(time))
        """
    }

    /// Numbers a page of the committed changes that have no number. The transaction must be a short one of its own. With the
    /// lock `FOR UPDATE SKIP LOCKED` it leaves them to another that is numbering changes.
    ///
    /// - Returns: whether there may be more.
    static func number(_ db: PostgreSQLTransaction, lock: String = "FOR UPDATE") throws -> Bool {
        // The next statements see everything that was committed when this one had the lock.
        guard let feed = try db.row("SELECT low, last, \(epoch) AS epoch, (\(db.lastEpoch)) AS known FROM feed \(lock)")
        else {
            return false
        }
        let (low, last, epoch, known): (Int64, Int64, String, String?) = try (
            feed["low"], feed["last"], feed["epoch"], feed["known"]
        )
        if known?.hasSuffix(" \(epoch)") != true {
            // Another may have begun it while this one waited for the lock.
            let epochs = try db.epochs()
            // Of the first, no counters of others were seen.
            if epochs.last?.name != epoch { try db.beginEpoch(epoch, after: last, resettingCounters: epochs.count > 1) }
        }
        // Before the snapshot with which it is compared.
        let issued: Int64? = try db.value("SELECT last_value FROM new_change_entry_seq")
        let xids = try db.row(
            """
            SELECT pg_snapshot_xmin(snapshot)::text AS oldest, pg_snapshot_xmax(snapshot)::text AS next
            FROM pg_current_snapshot() AS snapshot
            """
        )
        let moved = try db.row(
            """
            WITH page AS (
              SELECT entry, before FROM (
                SELECT entry, sum(cardinality(jobs)) OVER (ORDER BY entry) - cardinality(jobs) AS before
                FROM (SELECT entry, jobs FROM new_change WHERE entry > $1 ORDER BY entry LIMIT $2) AS first) AS first
              WHERE before < $3),
            moved AS (
              DELETE FROM new_change USING page WHERE new_change.entry = page.entry AND new_change.entry > $1
              RETURNING before, jobs, states, at),
            numbered AS (
              INSERT INTO change(last, jobs, states, at)
              SELECT $4::bigint + before + cardinality(jobs), jobs, states, at FROM moved),
            total AS (SELECT count(*) AS entries, coalesce(sum(cardinality(jobs)), 0) AS changes FROM moved)
            UPDATE feed SET last = last + changes FROM total RETURNING entries, changes
            """,
            [low, page.entries, page.changes, last]
        )
        guard let moved, let issued, let xids else { throw StoreError.failed("the feed of changes has no row") }
        if try moved["entries"] == page.entries || moved["changes"] >= page.changes { return true }
        let (oldest, next): (String, String) = try (xids["oldest"], xids["next"])
        // A number that is yet to come is that of another server, from which the tables were copied.
        try db.execute(
            """
            UPDATE feed SET low = CASE WHEN $1::xid8 >= next_xid THEN next_low ELSE low END, next_low = $3, next_xid = $2
            WHERE $1::xid8 >= next_xid OR next_xid > $2::xid8
            """,
            [oldest, next, issued]
        )
        return false
    }
}

extension PostgreSQLStore {
    /// Whether the store was opened for more than reading, by a role that may write what workers do.
    var canNumberChanges: Bool { !isReadOnly && rights.works }

    /// Numbers all changes that are committed, unless the store was opened for reading, by a role that may not, or is a
    /// standby: then the feed ends with what others have numbered.
    package func numberChanges() async throws(StoreError) {
        guard canNumberChanges else { return }
        let hasNewChanges = "SELECT \(ChangeNumbers.areThere())"
        guard try await read({ db in try db.value(hasNewChanges) ?? false }) else { return }
        while try await transaction({ db in try ChangeNumbers.number(db) }) {}
    }

    /// Numbers changes that nobody has read for a while, after the return of the call, so that programs that only read
    /// the store see them, and that nobody finds many.
    func numberChangesSoon() {
        guard isNumbering.exchange(true, ordering: .relaxed) == false else { return }
        errands.start { [self] in
            let lock = "FOR UPDATE SKIP LOCKED"
            // If it fails, the next sweep of any worker tries again: nobody waits for it.
            while (try? await transaction { db in try ChangeNumbers.number(db, lock: lock) }) == true {}
            isNumbering.store(false, ordering: .relaxed)
        }
    }
}
