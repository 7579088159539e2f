package import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. Who wants pictures forgotten inserts a row into `forget`, perhaps beside rows of an application, and its trigger does all
// that a look-up may see, in the same transaction. What was forgotten is noted by name in `forgotten`, where a blob, whose bytes
// leave later, is looked up by every reader. Running jobs lose their claims, so that no process, whatever its version, stores what
// they make. A forget takes a number from the sequence that fetches take theirs from, which tells what was asked for before it:
// the jobs whose `fetch_after` is below, even if no process has accepted them yet. The next process that claims or accepts ends
// them. An original that was fetched before is not stored any more either, by a trigger too.

extension SchemaWords {
    // DESIGN. The jobs that wait for pictures of a source are found by its end, where sources of one program differ, because an
    // index of whole sources would be as large as these. Tasks of earlier versions and of imports have none, and are all looked at.

    /// What finds the jobs of a source, and those that wait for uploads to be read.
    package var sourceTails: String {
        """
        ALTER TABLE task ADD COLUMN source_tail \(prose) NOT NULL DEFAULT '';
        CREATE INDEX task_source ON task(source_tail);
        CREATE INDEX task_upload ON task(upload) WHERE upload IS NOT NULL;
        """
    }

    /// What is to be forgotten, and what was.
    package var forgetTables: String {
        """
        -- What is to be forgotten, by whoever inserts a selector: {"uri": …}, or source, prefix, label, batch or job.
        CREATE TABLE forget(
          id \(number),
          \(neededJSON("selector")),
          at \(big) NOT NULL DEFAULT (\(now)),
          -- The number of a fetch that would begin now, and the last job that was asked for.
          seen \(big),
          last_job \(big),
          -- How many thumbnails it removed, and how many bytes nothing names any more.
          thumbnails \(big) NOT NULL DEFAULT 0,
          bytes \(big) NOT NULL DEFAULT 0,
          -- The job before those that are looked at whether they ask for it, and when none was left; -1: all.
          looked \(big) NOT NULL DEFAULT -1,
          done_at \(big)
        )\(strict);
        CREATE INDEX forget_open ON forget(last_job) WHERE done_at IS NULL;
        -- Thumbnails, by id, and blobs, by digest, and the number of the forget. They may have been made again since.
        CREATE TABLE forgotten(name \(name) PRIMARY KEY, seen \(big) NOT NULL)\(byKey);
        CREATE INDEX forgotten_seen ON forgotten(seen);
        """
    }

    /// What a row of `forget` does, a statement each, in a trigger. `byTail`: whether jobs are found by the ends of their sources.
    /// `beside`: the conditions that a thumbnail that exists, of an id, goes although this is not the first look, and that a task
    /// was asked for before, whatever its number.
    package func forgetting(
        byTail: Bool = false,
        beside: (made: (String) -> String, asked: String)? = nil
    ) -> [String] {
        func isFirst(_ id: String) -> String {
            beside.map { "(NEW.looked = -1 OR \($0.made(id)))" } ?? "NEW.looked = -1"
        }
        let seen = "(SELECT seen FROM forget WHERE id = NEW.id)"
        let names = "(SELECT name FROM forgotten WHERE seen = \(seen))"
        // Those that exist when a job is accepted later were made since.
        let isMade = "\(isFirst("thumbnail.id")) AND thumbnail.id IN \(names)"
        func field(_ name: String) -> String { "NEW.selector ->> '\(name)'" }
        func note(_ selected: String) -> String {
            """
            INSERT INTO forgotten(name, seen) SELECT DISTINCT selected.name, \(seen) FROM (\(selected)) AS selected WHERE true
              ON CONFLICT (name) DO UPDATE SET seen = excluded.seen
            """
        }
        let labelled = [("label", 0), ("batch", 1)].map { name, kind in
            """
            SELECT named.thumbnail FROM thumbnail_label AS named
              WHERE named.label = (SELECT id FROM label WHERE kind = \(kind) AND name = \(field(name)))
                AND (\(isTrue(field("evenShared"))) OR NOT EXISTS (
                  SELECT 1 FROM thumbnail_label AS other LEFT JOIN label ON label.id = other.label
                  WHERE other.thumbnail = named.thumbnail AND other.label <> named.label
                    AND coalesce(label.kind, 0) = \(kind)))
            """
        }
        let job = "CAST(\(field("job")) AS bigint)"
        let (hasSource, hasPrefix) = ("\(field("source")) IS NOT NULL", "\(field("prefix")) IS NOT NULL")
        let tasks = "task JOIN job ON job.id = task.id JOIN promise ON promise.job_id = task.id"
        let promised = "SELECT promise.thumbnail FROM \(tasks)"
        let hasItsPrefix = "substr(\(sourceOfJob), 1, length(\(field("prefix")))) = \(field("prefix"))"
        let waiting =
            byTail
            ? [
                """
                \(promised)
                  WHERE \(hasSource) AND task.source_tail IN ('', \(tail(field("source")))) AND task.id > NEW.looked
                    AND \(sourceOfJob) = \(field("source"))
                """,
                "\(promised)\n  WHERE \(hasPrefix) AND task.id > NEW.looked AND \(hasItsPrefix)",
            ]
            : [
                """
                \(promised)
                  WHERE (\(hasSource) OR \(hasPrefix)) AND task.id > NEW.looked
                    AND (\(sourceOfJob) = \(field("source"))
                      OR \(hasItsPrefix))
                """
            ]
        let selected =
            [
                "SELECT replace(\(field("uri")), 'cameo://thumb/', '') AS name",
                "SELECT id FROM thumbnail WHERE \(isSource(field("source")))",
                "SELECT id FROM thumbnail WHERE \(sourceBegins(field("prefix")))",
                """
                SELECT thumbnail FROM set_aside
                  WHERE thumbnail IS NOT NULL AND (source = \(field("source")) OR \(begins("source", field("prefix"))))
                """,
            ] + waiting
            + ["SELECT \(item.id) FROM accepted CROSS JOIN \(item.list) WHERE accepted.id = \(job)"] + labelled
        let asked = beside.map { " OR \($0.asked)" } ?? ""
        let exist = """
            SELECT name FROM (\(selected.joined(separator: "\nUNION ALL "))) AS selected
              WHERE (\(isFirst("selected.name")) AND EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.id = selected.name))
                OR EXISTS (SELECT 1 FROM set_aside WHERE set_aside.thumbnail = selected.name)
                OR EXISTS (SELECT 1 FROM promise LEFT JOIN task ON task.id = promise.job_id
                  WHERE promise.thumbnail = selected.name AND (task.id IS NULL OR fetch_after < \(seen)\(asked)))
            """
        let number = beside.map {
            """
            UPDATE task SET fetch_after = \(seen) - 1
              WHERE \($0.asked) AND fetch_after >= \(seen)
                AND id IN (SELECT job_id FROM promise WHERE thumbnail IN \(names))
            """
        }
        let blobs = [
            "SELECT blob AS name FROM thumbnail WHERE \(isMade)",
            "SELECT source_digest FROM thumbnail WHERE \(isMade)",
            "SELECT blob FROM source WHERE \(isKey("uri", field("source"))) AND source_seen < \(seen)",
            "SELECT blob FROM source WHERE \(begins("uri", field("prefix"))) AND source_seen < \(seen)",
            """
            SELECT ingredient.name FROM promise JOIN ingredient ON ingredient.job_id = promise.job_id
              WHERE promise.thumbnail IN \(names) AND length(ingredient.name) = 64
            """,
        ]
        // The original goes with the last thumbnail that was made of it.
        let isLast = """
            blob IN (SELECT source_digest FROM thumbnail WHERE \(isMade)) AND NOT EXISTS (
              SELECT 1 FROM thumbnail AS other WHERE other.source_digest = source.blob AND other.id NOT IN \(names))
            """
        let isLabel = [("label", 0), ("batch", 1)].map { name, kind in
            "label = (SELECT id FROM label WHERE kind = \(kind) AND name = \(field(name)))"
        }
        let orphans = """
            INSERT INTO orphan SELECT digest, 0 FROM blob WHERE digest IN \(names) ORDER BY digest
              ON CONFLICT (digest) DO UPDATE SET since = 0
            """
        let revocation = """
            UPDATE task SET token = \(fresh)
              WHERE state = 2 AND fetch_after < \(seen) AND id IN (SELECT job_id FROM promise WHERE thumbnail IN \(names))
            """
        return [note(exist)] + lockingForgotten(names) + [number].compactMap(\.self)
            + [revocation, note(blobs.joined(separator: "\nUNION ALL ")), orphans]
            + [isKey("uri", field("source")), begins("uri", field("prefix")), isLast].map {
                "DELETE FROM source WHERE source_seen < \(seen) AND \($0)"
            }
            + [isKey("uri", field("source")), begins("uri", field("prefix"))].map {
                "DELETE FROM source_failure WHERE source_seen < \(seen) AND \($0)"
            }
            + [
                "DELETE FROM set_aside WHERE thumbnail IN \(names) OR (thumbnail IS NULL AND blob IN \(names))",
                """
                UPDATE forget SET thumbnails = thumbnails + (SELECT count(*) FROM thumbnail WHERE \(isMade))
                  WHERE id = NEW.id
                """,
                "DELETE FROM promise WHERE code IS NOT NULL AND thumbnail IN \(names)",
                "DELETE FROM thumbnail WHERE \(isMade)",
            ] + isLabel.map { "DELETE FROM thumbnail_label WHERE NEW.looked = -1 AND \($0)" } + [
                """
                DELETE FROM thumbnail_label WHERE thumbnail IN \(names) AND NOT EXISTS (
                    SELECT 1 FROM promise JOIN task ON task.id = promise.job_id
                    WHERE promise.thumbnail = thumbnail_label.thumbnail AND fetch_after >= \(seen))
                  AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.id = thumbnail_label.thumbnail)
                """,
                orphans,
                """
                UPDATE forget SET bytes = (
                    SELECT coalesce(sum(size), 0) FROM blob WHERE digest IN \(names) AND NOT \(isShown))
                  WHERE id = NEW.id
                """,
            ]
    }

    /// Whether an original that is stored now was forgotten since its fetch began, where `NEW` is its row.
    package var isForgottenSource: String {
        """
        EXISTS (SELECT 1 FROM forgotten WHERE forgotten.name = NEW.blob AND forgotten.seen > NEW.source_seen)
          OR EXISTS (SELECT 1 FROM forget WHERE forget.done_at IS NULL AND forget.seen > NEW.source_seen
            AND (selector ->> 'source' = NEW.uri OR \(begins("NEW.uri", "selector ->> 'prefix'"))))
        """
    }
    /// What a selector must be, for people.
    package var neededSelector: String {
        "a selector has uri (cameo://thumb/ and 32 digits), source, prefix, label, batch (texts) or job (a number), one of these, "
            + "and may have evenShared, true or false"
    }
}

/// The condition that a row of `blob` may be read, as SQL: it was not forgotten, or something else names it.
package let isShown = """
    (NOT EXISTS (SELECT 1 FROM forgotten WHERE forgotten.name = blob.digest) OR blob.pinned
      OR EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.blob = blob.digest)
      OR EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.source_digest = blob.digest)
      OR EXISTS (SELECT 1 FROM source WHERE source.blob = blob.digest)
      OR EXISTS (SELECT 1 FROM ingredient JOIN task ON task.id = ingredient.job_id
        WHERE ingredient.name = blob.digest AND NOT EXISTS (
          SELECT 1 FROM promise JOIN forgotten AS gone ON gone.name = promise.thumbnail
          WHERE promise.job_id = task.id AND gone.seen > task.fetch_after)))
    """

extension QueueTransaction {
    /// The maximum number of jobs that one transaction ends.
    private static var jobsAtOnce: Int { 200 }
    /// How long the names of what was forgotten are kept, in milliseconds.
    private static var age: Int64 { 30 * 86_400_000 }

    package func forget(_ selector: ForgetSelector) throws -> Int64 {
        let insertion = "INSERT INTO forget(selector) VALUES (\(dialect.json("?1"))) RETURNING id"
        guard let id: Int64 = try value(insertion, [selector.json.canonicalText]) else {
            throw StoreError.failed("the forget has no row")
        }
        wakeWorkers()
        return id
    }

    /// What a forget has removed, and what of that is still on the disk or in the bucket.
    func receipt(of forget: Int64, _ selector: ForgetSelector) throws -> ForgetReceipt {
        let row = try row("SELECT thumbnails, bytes, seen FROM forget WHERE id = ?1", [forget])
        guard let row else { throw StoreError.failed("the forget has no row") }
        let left: Int64? = try value(
            """
            SELECT coalesce(sum(size), 0) FROM blob JOIN forgotten ON forgotten.name = blob.digest
            WHERE forgotten.seen = ?1 AND NOT \(isShown)
            """,
            [try row["seen"] as Int64]
        )
        var receipt = try ForgetReceipt(thumbnails: row["thumbnails"], bytes: row["bytes"], bytesLeft: Int(left ?? 0))
        receipt.isKnown = try receipt.thumbnails > 0 || isKnown(selector, of: forget)
        return receipt
    }

    /// Whether a selector names something that is there, or was until an earlier forget.
    private func isKnown(_ selector: ForgetSelector, of forget: Int64) throws -> Bool {
        func wasForgotten(_ name: String) -> String {
            """
            SELECT 1 FROM forget AS earlier WHERE id < ?1 AND selector ->> '\(name)' = ?2
              AND (thumbnails > 0 OR EXISTS (SELECT 1 FROM forgotten WHERE forgotten.seen = earlier.seen))
            """
        }
        let (rows, name): (String, any SQLBindable) =
            switch selector.selection {
            case .uri(let id): ("SELECT 1 FROM forgotten WHERE name = ?2", id.text)
            case .source(let name): (wasForgotten("source"), name)
            case .prefix(let prefix): (wasForgotten("prefix"), prefix)
            case .label(let name): ("SELECT 1 FROM label WHERE kind = 0 AND name = ?2", name)
            case .batch(let name): ("SELECT 1 FROM label WHERE kind = 1 AND name = ?2", name)
            case .job(let id): ("SELECT 1 FROM job WHERE id = ?2", id)
            }
        let own = "SELECT 1 FROM forget JOIN forgotten ON forgotten.seen = forget.seen WHERE forget.id = ?1"
        return try value("SELECT EXISTS (\(own)) OR EXISTS (\(rows))", [forget, name]) ?? false
    }

    /// What `body` returns, and the transaction without what it did.
    func undone<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        do {
            return try inSavepoint { throw Undo(value: try body()) }
        } catch let undo as Undo<Value> {
            return undo.value
        }
    }

    package func isForgetting() throws -> Bool {
        try value("SELECT EXISTS (SELECT 1 FROM forget WHERE done_at IS NULL)") ?? false
    }

    /// Whether a thumbnail or blob was forgotten, if it is not there.
    package func wasForgotten(_ name: String) throws -> Bool {
        try value("SELECT EXISTS (SELECT 1 FROM forgotten WHERE name = ?1)", [name]) ?? false
    }

    /// Ends some of the jobs that were asked for before what they make was forgotten. `arrival` is the first of those that were
    /// just accepted. Before it accepts others, a transaction `goesOn`.
    ///
    /// - Returns: whether others may be left.
    @discardableResult
    package func endForgottenJobs(acceptedFrom arrival: Int64? = nil, goesOn: Bool = false) throws -> Bool {
        let columns = "id, seen, last_job, \(dialect.arriving) AS arriving"
        let open = try query("SELECT \(columns) FROM forget WHERE done_at IS NULL ORDER BY id")
        var isLeft = false
        for row in open {
            let (id, seen, last): (Int64, Int64, Int64) = try (row["id"], row["seen"], row["last_job"])
            let arrivals = "SELECT EXISTS (SELECT 1 FROM \(dialect.arrivedJobs) WHERE job.id <= ?1)"
            let mayArrive = try value(arrivals, [last]) ?? false
            // The trigger looks at the jobs after this one. Others may have accepted those that were arriving without seeing the
            // forget, nor it them. Now all are there.
            if !mayArrive, let beside: Int64 = try row["arriving"] {
                try execute("UPDATE forget SET looked = ?2, arriving = NULL WHERE id = ?1", [id, beside - 1])
            }
            if let arrival { try execute("UPDATE forget SET looked = ?2 WHERE id = ?1", [id, arrival - 1]) }
            let jobs: [Int64] = try column(
                """
                SELECT DISTINCT task.id FROM forgotten JOIN promise ON promise.thumbnail = forgotten.name
                  JOIN task ON task.id = promise.job_id
                WHERE forgotten.seen = ?1 AND fetch_after < ?1 ORDER BY task.id LIMIT ?2
                """,
                [seen, Self.jobsAtOnce]
            )
            let all = try jobs + unreadUploads(selectedBy: id, before: seen)
            for job in all { _ = try cancel(job) }
            if !all.isEmpty {
                try execute("UPDATE upload SET data = NULL WHERE job_id \(dialect.isIn("?1", .integers))", [all])
            }
            guard jobs.count < Self.jobsAtOnce else { isLeft = true; continue }
            if !mayArrive, !goesOn {
                try execute("UPDATE forget SET done_at = ?2 WHERE id = ?1", [id, now])
            }
        }
        return isLeft
    }

    /// The jobs whose pictures no worker has read yet, so that nobody knows their thumbnails.
    private func unreadUploads(selectedBy forget: Int64, before seen: Int64) throws -> [Int64] {
        let look = "SELECT \(dialect.text("selector")) AS selector FROM forget WHERE id = ?1"
        // One that the tables took and this version does not know selects nothing.
        guard let text: String = try value(look, [forget]), let json = try? JSONValue(parsing: text.utf8),
            let selector = try? ForgetSelector(json: json)
        else { return [] }
        return try query(
            """
            SELECT task.id AS id, \(dialect.requestBytes) AS request
            FROM task \(dialect.indexed(by: "task_upload")) JOIN job ON job.id = task.id
            WHERE task.upload IS NOT NULL AND fetch_after < ?1
              AND NOT EXISTS (SELECT 1 FROM promise WHERE promise.job_id = task.id)
            """,
            [seen]
        )
        .compactMap { row in
            let (id, request): (Int64, Data) = try (row["id"], row["request"])
            let isSelected = (try? ThumbnailRequest(accepted: request)).map { selector.selects($0, of: id) } ?? false
            return isSelected ? id : nil
        }
    }

    /// Removes what is known of old forgets.
    func removeForgets() throws {
        let old = "SELECT coalesce(max(seen), 0) FROM forget WHERE at < ?1 AND done_at IS NOT NULL"
        try execute(
            """
            DELETE FROM forgotten WHERE seen <= (\(old))
              AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.digest = forgotten.name)
            """,
            [now - Self.age]
        )
        try execute("DELETE FROM forget WHERE at < ?1 AND done_at IS NOT NULL", [now - Self.age])
    }
}

/// What undoes a savepoint, with what was learned in it.
private struct Undo<Value: Sendable>: Error { let value: Value }

extension QueueStore {
    package func forget(_ selector: ForgetSelector, atOnce: Bool) async throws(StoreError) -> ForgetReceipt {
        let id = try await commit(.new) { db in try db.forget(selector) }
        while try await commit(.new, { db in try db.endForgottenJobs() }) {}
        if atOnce { try await removeForgottenBytes() }
        return try await read { db in try db.receipt(of: id, selector) }
    }

    package func forgettable(_ selector: ForgetSelector) async throws(StoreError) -> ForgetReceipt {
        try await commit(.new) { db in try db.undone { try db.receipt(of: db.forget(selector), selector) } }
    }

    package func forgettable(_ source: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        try await commit(.new) { db in try db.undone { try db.forgetSource(source, extent) } }
    }

    package func removeForgottenBytes() async throws(StoreError) {
        let limit = Date(milliseconds: try await read { db in db.now } - orphanAge)
        while true {
            let collected = try await collectBlobs(unreferencedSince: limit, atMost: 256)
            if let failure = collected.failure {
                throw .unremoved(blobs: collected.failures, reason: "\(failure)")
            }
            if collected.candidates < 256 { return }
        }
    }

    package func wasForgotten(_ uri: CameoURI) async throws(StoreError) -> Bool {
        let name: String
        switch uri {
        case .thumbnail(let id): name = id.text
        case .blob(let digest): name = digest.hex
        case .source: return false
        }
        return try await read { db in try db.wasForgotten(name) }
    }

    /// Ends the jobs that were forgotten before they could end.
    package func endForgottenJobs() async throws(StoreError) {
        guard try await read({ db in try db.isForgetting() }) else { return }
        while try await commit(.new, { db in try db.endForgottenJobs() }) {}
    }
}
