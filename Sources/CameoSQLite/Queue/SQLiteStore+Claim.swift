internal import CLinux
internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation

// DESIGN. A claim goes to the queue of lowest rank and its lane of lowest rank, and takes jobs from there up to the
// first job of the next lane or queue. Full or paused queues and full keys are in none of the indexes that it scans. A
// head may be too low, if its job was cancelled or its lane closed; the next claim corrects it.
extension SQLiteStore {
    /// The maximum number of scheduled and retryable jobs made available by one claim.
    private static let promotions = 1_000

    package func claim(_ request: ClaimRequest) async throws(StoreError) -> [ClaimedJob] {
        guard let claimTurn else { throw .readOnly(path: directory.path) }
        guard request.limit > 0 else { return [] }
        let (since, acceptances) = (cameo_monotonic_ms(), acceptances)
        var (isIdle, pages) = (false, 0)
        while true {
            let (hasArrivals, mayClaim) = try await read { db in
                (try db.hasArrivals() || db.isForgetting(), try Self.mayClaim(request, db))
            }
            guard hasArrivals || mayClaim else {
                claimTurn.note(found: false)
                return []
            }
            let needsTurn = claimTurn.isNeeded(after: cameo_monotonic_ms() - since)
            let turn = needsTurn ? claimTurn.take() : nil
            if needsTurn, turn == nil, (try? await Task.sleep(for: ClaimTurn.pause)) != nil { continue }
            defer { withExtendedLifetime(turn) {} }
            if !mayClaim { isIdle = true }
            let accepts = hasArrivals && (isIdle || !acceptances.isResting)
            let reading = ContinuousClock.now
            let page: Arrivals =
                accepts
                ? try await arrivals(atMost: isIdle ? Arrival.page.rows : Arrival.rowsBesideWork)
                : ([], 0)
            let read = reading.duration(to: .now)
            pages += 1
            // Accepting and claiming in one transaction saves a sync for jobs inserted by SQL.
            let (lost, jobs) = try await commit { db in
                var lost = try acceptances.measuring(page.rows.count, read: read) { try Self.accept(page, db) }
                let jobs = try Self.claim(request, &lost, db)
                return (lost, jobs)
            }
            claimTurn.note(found: !jobs.isEmpty)
            acceptances.note(lost)
            // The accepted page may have yielded nothing to claim, such as jobs for later, but more rows may follow it.
            guard jobs.isEmpty, hasArrivals, pages < Arrival.pagesPerClaim else { return jobs }
            isIdle = true
        }
    }

    /// The next time at which a job may become claimable without a commit, because it becomes due or a rate allows it;
    /// nil if there is none.
    static func nextDueTime(_ db: SQLiteTransaction) throws -> Int64? {
        try db.value(
            """
            SELECT min(due) FROM (
              SELECT min(due) AS due FROM task INDEXED BY task_due WHERE \(TaskRow.isPostponed)
              UNION ALL SELECT min(opens_at) FROM queue INDEXED BY queue_opening WHERE opens_at <> 0
              UNION ALL SELECT min(opens_at) FROM key INDEXED BY key_opening WHERE opens_at <> 0)
            """
        )
    }

    private static func claim(
        _ request: ClaimRequest,
        _ lost: inout [LostJob],
        _ db: SQLiteTransaction
    ) throws -> [ClaimedJob] {
        // The worker may not have seen the stop request yet, but its issuer has been told that nothing more is claimed.
        guard try db.stopRequest(for: request.worker) == nil else { return [] }
        if try db.isForgetting() {
            while try db.endForgottenJobs() {}
            try db.flush()
        }
        try promoteDueJobs(db)
        try db.openRates()
        if request.kind == .poison { return try claimPoisonJobs(request, &lost, db) }
        var (jobs, request) = ([ClaimedJob](), request)
        var sourceSeen = try db.nextSourceSeen()
        while jobs.count < request.limit, let front = try Front.find(for: request, db) {
            let left = request.limit - jobs.count
            let allowed = front.queue.isBackground ? min(left, request.background) : left
            let room = min(allowed, front.share?.jobs ?? .max, try front.room(db))
            guard room > 0 else {
                try front.close(db)
                continue
            }
            let tasks = try front.tasks(atMost: room, db)
            if front.queue.isBackground { request.background -= tasks.count }
            for task in tasks {
                let queue = (front.queue.name, front.queue.isBackground)
                let charged = front.share?.had.charge
                if let job = try take(task, &sourceSeen, from: queue, charged, for: request.worker, &lost, db) {
                    jobs.append(job)
                }
            }
            if front.isLimited {
                try db.spend(tasks.count, queue: front.queue.id, key: front.key)
                try db.flush()
            }
            // If nothing else is open, the order does not depend on heads, and they are not written before the lane is empty.
            if front.bound != nil || front.share != nil || tasks.count < room {
                try front.settle(charging: tasks.count, db)
            }
        }
        try db.flush()
        try noteFetches(before: sourceSeen, db)
        return jobs
    }

    /// Whether a claim could find anything or enable a later one to. Checked before the write lock is taken.
    private static func mayClaim(_ request: ClaimRequest, _ db: SQLiteTransaction) throws -> Bool {
        if let due = try nextDueTime(db), due <= db.now { return true }
        if try db.value("SELECT \(db.dialect.mayOpen(at: "?1"))", [db.now]) == true { return true }
        if request.kind == .poison { return try db.poisonJob(among: request.queues, request.backgroundJobs) != nil }
        return try !Front.openQueues(for: request, db).isEmpty
    }

    private static func promoteDueJobs(_ db: SQLiteTransaction) throws {
        let due = try db.tasks(
            "INDEXED BY task_due WHERE \(TaskRow.isPostponed) AND due <= ? ORDER BY due LIMIT ?",
            [db.now, promotions]
        )
        guard !due.isEmpty else { return }
        for task in due {
            try db.execute("UPDATE task SET \(TaskRow.isAvailable) WHERE id = ?1", [task.id])
            var promoted = task
            promoted.state = .available
            db.move(promoted, from: task.state, to: .available)
        }
        try db.flush()
    }

    private static func claimPoisonJobs(
        _ request: ClaimRequest,
        _ lost: inout [LostJob],
        _ db: SQLiteTransaction
    ) throws -> [ClaimedJob] {
        var jobs: [ClaimedJob] = []
        // One by one, because each may fill its queue or key.
        while jobs.count < request.limit,
            let next = try db.poisonJob(among: request.queues, request.backgroundJobs), let task = try db.task(next.job)
        {
            var sourceSeen = try db.nextSourceSeen()
            try db.spend(1, queue: task.queue, key: task.key)
            let queue = (next.queueName, next.isBackground)
            if let job = try take(task, &sourceSeen, from: queue, nil, for: request.worker, &lost, db) {
                jobs.append(job)
            }
            try noteFetches(before: sourceSeen, db)
            try db.flush()
        }
        return jobs
    }

    // MARK: - Claiming one job

    /// Records which numbers of fetches were used; without a job, none is.
    private static func noteFetches(before sourceSeen: Int64, _ db: SQLiteTransaction) throws {
        try db.execute("UPDATE sequence SET value = ?1 WHERE name = 'source_seen'", [sourceSeen - 1])
    }

    /// Claims a job, whose fetch has a number of its own, and for which its lane is charged, unless that is nil. Nil if another
    /// program has deleted its row, with which it ends.
    private static func take(
        _ task: TaskRow,
        _ sourceSeen: inout Int64,
        from queue: (name: String, isBackground: Bool),
        _ charged: Double?,
        for worker: String,
        _ lost: inout [LostJob],
        _ db: SQLiteTransaction
    ) throws -> ClaimedJob? {
        guard let row = try db.row("SELECT request, created_at FROM job WHERE id = ?1", [task.id]) else {
            try db.forget(task, from: .available)
            lost.append(LostJob(deleted: task.id, from: queue.name, attempt: task.attempt))
            return nil
        }
        // 128 random bits.
        let bits: [UInt8] = (0..<2).flatMap { _ in withUnsafeBytes(of: UInt64.random(in: .min ... .max), Array.init) }
        let claim = Claim(jobID: task.id, token: Hexadecimal.encode(bits))
        try db.execute(
            """
            UPDATE task SET \(TaskRow.isRunning), attempt = attempt + 1, tries = tries + 1, attempted_at = ?1, token = ?2,
              worker = ?3, charged = ?5
            WHERE id = ?4
            """,
            [db.now, claim.token, worker, task.id, charged]
        )
        db.move(task, from: .available, to: .running)
        let uploaded = try task.upload.map { try pendingUpload($0, db) }
        defer { sourceSeen += 1 }
        return ClaimedJob(
            claim: claim,
            request: try row["request"],
            refresh: task.refresh,
            queue: queue.name,
            isBackground: queue.isBackground,
            attempt: task.attempt + 1,
            maxAttempts: task.maxAttempts,
            crashCount: task.crashCount,
            previousFailure: try db.previousFailure(of: task),
            uploadedBytes: uploaded?.bytes,
            uploadedSource: uploaded?.source,
            createdAt: Date(milliseconds: try row["created_at"]),
            availableAt: Date(milliseconds: task.due),
            begun: FetchTicket(sourceSeen: sourceSeen, after: task.fetchAfter, isFirstAttempt: task.tries == 0)
        )
    }

    /// The size of an upload's bytes, or the blob that they have become.
    private static func pendingUpload(_ upload: Int64, _ db: SQLiteTransaction) throws -> (
        bytes: Int?, source: String?
    ) {
        let row = try db.row("SELECT digest, cachekey, length(data) AS bytes FROM upload WHERE id = ?1", [upload])
        guard let row else { return (0, nil) }
        let source = try row.sourceOfUpload
        return (source == nil ? try row["bytes"] ?? 0 : nil, source)
    }
}
