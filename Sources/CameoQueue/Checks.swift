package import CameoModel
package import CameoStore

/// The command that corrects what a check has found, for messages.
package let repairCommand = "`cameo-admin check --repair`"

/// What a scan of all blobs has found.
package struct BlobSurvey: Sendable {
    package fileprivate(set) var count = 0
    /// Damaged or missing blobs.
    package fileprivate(set) var damaged: [BlobDigest] = []
    /// Blobs that could not be read, with the reasons.
    package fileprivate(set) var unreadable: [String] = []

    /// The finding of a check. `repair` says what the command does before it removes thumbnails.
    package func finding(_ repair: String = repairCommand) -> CheckFinding {
        CheckFinding(
            "blobs",
            damaged.map { "\($0) is missing or damaged" } + unreadable,
            ok: "all \(count) match their digests",
            advice: damaged.isEmpty
                ? "\(repairCommand) removes nothing for that"
                : """
                Damaged bytes are never served. \(repair) removes thumbnails with damaged bytes, which are made again on request; \
                blobs that a program stored directly are only in a backup
                """
        )
    }
}

extension StatusReport.Worker {
    /// What the store refuses a live worker, as a finding; nil: nothing.
    package var refusal: String? { isAlive ? trouble.map { "worker \(id) on \(host) \($0.text)" } : nil }
}

extension QueueStore {
    package func checkWorkers() async throws(StoreError) -> CheckFinding {
        let workers = try await status().workers
        let waiting = workers.compactMap(\.refusal)
        return CheckFinding(
            "workers",
            workers.filter { !$0.isAlive }.map { worker in
                WorkerDescription.isID(worker.id)
                    ? "worker \(worker.id) died or is silent beyond its lease, and has \(worker.running) running jobs"
                    : "a row names the worker \(worker.id), which is not a valid worker id"
            } + waiting,
            ok: "no dead worker holds jobs, and the store refuses live ones nothing",
            advice: waiting.isEmpty
                ? "The next worker that starts rescues them at once"
                : "What waits goes on by itself once the store takes it, and the next worker that starts rescues dead ones' jobs",
            severity: .warning
        )
    }

    /// Reads and verifies every blob, `readers` at a time: a bucket answers many requests in the time of one. `next` is called
    /// before each page. Blobs are passed over that are only set aside, and young ones that nothing references, whose bytes may
    /// be on their way.
    package func survey(
        readers: Int,
        _ report: @Sendable (ByteProgress) -> Void,
        before next: () async throws(StoreError) -> Void = {}
    ) async throws(StoreError) -> BlobSurvey {
        let total = try await read { db in try db.totals()["blob_bytes"] ?? 0 }
        var (survey, done, last) = (BlobSurvey(), 0, "")
        while true {
            try await next()
            let after = last
            let page = try await read { db in
                let isPassed = "created_at > ?2 AND \(isUnused) OR \(isOnlySetAside)"
                let rows = "FROM blob WHERE digest > ?1 AND NOT (\(isPassed)) ORDER BY digest LIMIT 500"
                return try db.query("SELECT digest, size \(rows)", [after, db.now - orphanAge])
                    .map { row in (hex: try row["digest"] as String, bytes: try row["size"] as Int) }
            }
            guard let end = page.last else { break }
            last = end.hex
            survey.count += page.count
            for start in stride(from: 0, to: page.count, by: readers) {
                let some = page[start..<min(start + readers, page.count)]
                try await look(at: some.compactMap { BlobDigest(hex: $0.hex) }, &survey)
                done += some.reduce(0) { $0 + $1.bytes }
                report((done: done, total: max(total, done)))
            }
        }
        // Checks again: the bytes of a row that was new or on its way out when it was listed may have come or gone.
        let suspects = survey.damaged
        survey.damaged = []
        for digest in suspects {
            try await next()
            try await look(at: [digest], &survey)
        }
        return survey
    }

    /// Whether a blob's bytes are missing or wrong by two ways of reading them.
    ///
    /// - Throws: ``StoreError/unreadableBlob(path:reason:)`` if the ways differ: then the storage is not what answers wrongly.
    package func isLost(_ digest: BlobDigest) async throws(StoreError) -> Bool {
        if try await isWhole(digest) { return false }
        guard try await isWhole(digest, inParts: true) else { return true }
        let reason = "its bytes come when they are asked for in parts, over new connections, and not as a whole"
        throw .unreadableBlob(path: CameoURI.blob(digest).text, reason: reason)
    }

    /// Reads some blobs at the same time.
    private func look(at digests: [BlobDigest], _ survey: inout BlobSurvey) async throws(StoreError) {
        let found = await withTaskGroup(of: Look.self) { group in
            for digest in digests { group.addTask { await self.look(at: digest) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for look in found.sorted(by: { $0.digest.hex < $1.digest.hex }) {
            switch look.isLost {
            case .success(false): break
            case .success(true): survey.damaged.append(look.digest)
            case .failure(.unreadableBlob(let path, let reason)):
                survey.unreadable.append(StoreError.unreadableBlob(path: path, reason: reason).description)
            case .failure(let error): throw error
            }
        }
    }

    // DESIGN. Complete before the task returns it: a tuple that the task's closure fills around a typed error is garbage in
    // code that Swift 6.3 optimises.
    private func look(at digest: BlobDigest) async -> Look {
        let result: Result<Bool, StoreError>
        do throws(StoreError) {
            result = .success(try await isLost(digest))
        } catch {
            result = .failure(error)
        }
        return Look(digest: digest, isLost: result)
    }
}

/// What reading one blob showed.
private struct Look: Sendable {
    let digest: BlobDigest
    let isLost: Result<Bool, StoreError>
}

// Rows that disagree with one another, which no transaction of Cameo leaves.
extension QueueTransaction {
    /// Jobs that run for an unknown worker.
    private var withoutWorker: String {
        """
        SELECT id FROM task WHERE \(TaskRow.isRunning)
          AND NOT EXISTS (SELECT 1 FROM worker WHERE worker.id = task.worker) ORDER BY id
        """
    }

    /// Makes such jobs available again, and returns their number.
    package func releaseUnknown() throws -> Int {
        let tasks = try tasks("WHERE \(TaskRow.isRunning) AND id IN (\(withoutWorker)) ORDER BY id", [])
        for task in tasks { try release(task, as: .interrupted) }
        return tasks.count
    }

    package func checkAttempts() throws -> CheckFinding {
        CheckFinding(
            "attempts",
            try column(withoutWorker).map { (id: Int64) in "job \(id) runs for an unknown worker" },
            ok: "every running job has a worker",
            advice:
                "Another program changed the tables; \(repairCommand) makes such jobs available again, as the next worker does"
        )
    }

    private func deliveriesWithoutWorker(in table: DeliveryTable) -> String {
        let name = table.rawValue
        return
            "SELECT seq FROM \(name) WHERE status = 1 AND NOT EXISTS (SELECT 1 FROM worker WHERE worker.id = \(name).worker)"
    }

    /// Unfinished jobs whose mark disagrees with their hooks.
    private var wronglyMarked: String {
        "SELECT id FROM task WHERE hooked <> EXISTS (SELECT 1 FROM job_hook WHERE job_hook.job_id = task.id)"
    }

    /// Ended jobs with a hook to which no end was ever entered.
    private var untold: String {
        """
        FROM job_hook JOIN outcome ON outcome.id = job_hook.job_id
        WHERE superseded_by IS NULL AND NOT EXISTS (
          SELECT 1 FROM delivery WHERE delivery.job_id = job_hook.job_id AND delivery.hook = job_hook.hook)
        """
    }

    package func checkHooks() throws -> CheckFinding {
        let deliveries: [Int64] = try DeliveryTable.allCases.flatMap { try column(deliveriesWithoutWorker(in: $0)) }
        let jobs: [Int64] = try column(wronglyMarked) + column("SELECT DISTINCT job_hook.job_id \(untold)")
        return CheckFinding(
            "hooks",
            deliveries.map { "delivery \($0) runs for an unknown worker" }
                + jobs.map { "the end of job \($0) would not reach its hooks" },
            ok: "every end of a job reaches its hooks",
            advice: "Another program changed the tables; \(repairCommand) corrects the rows"
        )
    }

    /// - Returns: the number of rows corrected.
    package func repairHooks() throws -> Int {
        let delivered = """
            INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
            SELECT ended.job_id, ended.hook, state, finalized_at, failure, CAST(?1 AS bigint), CAST(?1 AS bigint)
            FROM (SELECT DISTINCT job_hook.job_id, job_hook.hook \(untold)) AS ended JOIN outcome ON outcome.id = ended.job_id
            """
        let released = try DeliveryTable.allCases.reduce(0) { count, table in
            let release = "UPDATE \(table.rawValue) SET status = 0, worker = NULL"
            return try count + execute("\(release) WHERE seq IN (\(deliveriesWithoutWorker(in: table)))")
        }
        return try released + execute("UPDATE task SET hooked = NOT hooked WHERE id IN (\(wronglyMarked))")
            + execute(delivered, [now])
    }

    /// What jobs promise that have ended, or are gone.
    private var emptyPromises: String {
        """
        FROM promise WHERE code IS NULL AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = promise.job_id)
          AND (EXISTS (SELECT 1 FROM outcome WHERE outcome.id = promise.job_id)
            OR NOT EXISTS (SELECT 1 FROM job WHERE job.id = promise.job_id))
        """
    }

    package func checkPromises() throws -> CheckFinding {
        let rows = try query("SELECT job_id, thumbnail \(emptyPromises) ORDER BY job_id, thumbnail")
        return CheckFinding(
            "promises",
            try rows.map { try "job \($0["job_id"] as Int64) promises \($0["thumbnail"] as String), and has ended" },
            ok: "every promise is of a job that has not ended",
            advice: "Another program changed the tables; \(repairCommand) removes such promises"
        )
    }

    /// - Returns: the number of promises removed.
    package func removeEmptyPromises() throws -> Int {
        let thumbnails: [String] = try column("SELECT thumbnail \(emptyPromises)")
        let count = try execute("DELETE \(emptyPromises)")
        try removeLabels(of: thumbnails)
        return count
    }

    /// The actual numbers of each queue's jobs, as SQL: `queue`, `name`, and a column for each state.
    package var actualJobs: String {
        let columns = JobState.allCases.map { state in
            "CAST(coalesce(sum(jobs) FILTER (WHERE place.state = \(state.code)), 0) AS bigint) AS \(state.rawValue)"
        }
        return """
            SELECT queue.id AS queue, queue.name AS name, \(columns.joined(separator: ", "))
            FROM queue LEFT JOIN (
              SELECT queue, state, count(*) AS jobs FROM (
                SELECT queue, state FROM task UNION ALL SELECT queue, state FROM outcome) AS placed
              GROUP BY queue, state) AS place ON place.queue = queue.id
            GROUP BY queue.id, queue.name
            """
    }

    /// Corrects the rows that count the jobs of queues.
    package var correctionOfCounts: String {
        """
        UPDATE queue_count SET \(JobState.allCases.map { "\($0.rawValue) = actual.\($0.rawValue)" }.joined(separator: ", "))
        FROM (\(actualJobs)) AS actual WHERE actual.queue = queue_count.queue
        """
    }

    /// The counts of queues that are wrong; those of jobs that have `ever` ended are at least as many as there are.
    package func wrongCounts() throws -> [(queue: String, state: String, ever: Bool, counted: Int, actual: Int)] {
        func differing(_ state: JobState, _ column: String, ever: String, if comparison: String) -> String {
            """
            SELECT actual.name AS queue, '\(state.rawValue)' AS state, \(ever) AS ever, counts.\(column) AS counted,
              actual.\(state.rawValue) AS actual
            FROM actual JOIN \(dialect.queueCounts) AS counts ON counts.queue = actual.queue
            WHERE counts.\(column) \(comparison) actual.\(state.rawValue)
            """
        }
        let jobs = JobState.allCases.map { differing($0, $0.rawValue, ever: "FALSE", if: "<>") }
        let ends = JobState.ends.map { differing($0, "ever_\($0.rawValue)", ever: "TRUE", if: "<") }
        let wrong = (jobs + ends).joined(separator: " UNION ALL ")
        return try query("WITH actual AS (\(actualJobs)) \(wrong)")
            .map { row in try (row["queue"], row["state"], row["ever"], row["counted"], row["actual"]) }
    }

    /// The counts that are kept of all rows, as they should be: `name` and `actual`.
    package var actualTotals: String {
        """
        SELECT 'blobs' AS name, count(*) AS actual FROM blob
        UNION ALL SELECT 'blob_bytes', CAST(coalesce(sum(size), 0) AS bigint) FROM blob
        UNION ALL SELECT 'thumbnails', count(*) FROM thumbnail
        UNION ALL SELECT 'sources', count(*) FROM source WHERE NOT pinned
        UNION ALL SELECT 'source_bytes', CAST(coalesce(sum(size), 0) AS bigint) FROM source WHERE NOT pinned
        """
    }

    /// `numbers` are the sequences that are behind the highest number in use: `name`, `counted` and `actual`.
    package func checkCounters(and numbers: [QueueRow] = []) throws -> CheckFinding {
        let jobs = try wrongCounts().map { wrong in
            wrong.ever
                ? "queue \(wrong.queue) has \(wrong.actual) \(wrong.state) jobs and counts \(wrong.counted) that ever ended so"
                : "queue \(wrong.queue) counts \(wrong.counted) \(wrong.state) jobs and has \(wrong.actual)"
        }
        func text(_ row: QueueRow, _ has: String, _ should: String) throws -> String {
            try "\(row["name"] as String) \(has) \(row["counted"] as Int)\(should) \(row["actual"] as Int)"
        }
        let totals = try query(wrongTotals).map { try "the total of \(text($0, "is", " and should be"))" }
        let behind = try numbers.map { try "the numbers of \(text($0, "have reached", ", and the highest in use is"))" }
        return CheckFinding(
            "counters",
            jobs + totals + behind,
            ok: "all counters agree with the rows",
            advice: "Another program changed the tables; \(repairCommand) recounts"
        )
    }

    /// Those that are wrong: `name`, `counted` and `actual`.
    package var wrongTotals: String {
        """
        SELECT stored.name AS name, value AS counted, actual
        FROM \(dialect.totals) AS stored JOIN (\(actualTotals)) AS real ON real.name = stored.name WHERE value <> actual
        """
    }
}
