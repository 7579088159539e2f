import CameoModel
import CameoStore

// DESIGN. The queue's promises as the simplest possible code: linear scans of lists, without indexes, heads or
// counters. If the store and this model disagree, one of the two is wrong.
struct QueueModel {
    struct Worker {
        var leaseUntil: Int64
        var isAlive = true
        /// The jobs that it lost to its silence, if it may turn out to be dead.
        var suspects: Set<Int64> = []
    }

    /// As in ``ModelEngine``.
    let silenceOfTheDead: Int64?

    var jobs: [Int64: ModelJob] = [:]
    var paused: Set<String> = []
    var fair: Set<String> = []
    var queueLimits: [String: Int] = [:]
    var keyLimits: [String: Int] = [:]
    var workers: [String: Worker] = [:]
    var lastID: Int64 = 0

    init(silenceOfTheDead: Int64?) { self.silenceOfTheDead = silenceOfTheDead }

    private var ordered: [ModelJob] { jobs.values.sorted { $0.id < $1.id } }

    // MARK: - Enqueueing

    /// The waiting job that a request with this key joins; nil if the request becomes a new job.
    func waitingJob(for key: String) -> ModelJob? {
        jobs.values.first { $0.isWaiting && $0.uniqueKey == key }
    }

    mutating func insert(_ job: ModelJob) {
        jobs[job.id] = job
        lastID = job.id
        if let key = job.concurrencyKey, keyLimits[key] == nil { keyLimits[key] = 1 }
    }

    /// Accepts or supersedes rows inserted by SQL, as every claim and enqueue does first.
    mutating func acceptArrivals(now: Int64) {
        for job in ordered where !job.isAccepted {
            jobs[job.id]?.isAccepted = true
            standOrYield(job.id, now: now)
        }
    }

    /// Accepts rows up to a job, as an operator's change does first.
    mutating func acceptArrivals(through id: Int64, now: Int64) {
        if jobs[id]?.isAccepted == false { acceptArrivals(now: now) }
    }

    mutating func join(_ id: Int64, priority: Int, time: Int64?, batches: Set<String>, now: Int64) {
        guard let job = jobs[id] else { return }
        jobs[id]?.priority = max(job.priority, priority)
        var due = job.availableAt
        if let time, job.state != .retryable { due = min(due, time) }
        jobs[id]?.availableAt = due
        if job.state == .scheduled, due <= now { jobs[id]?.state = .available }
        jobs[id]?.batches.formUnion(batches)
    }

    private mutating func standOrYield(_ id: Int64, now: Int64) {
        guard let job = jobs[id],
            let duplicate = ordered.first(where: { $0.id != id && $0.isWaiting && $0.uniqueKey == job.uniqueKey })
        else { return }
        let time = job.state == .retryable ? nil : job.availableAt
        join(duplicate.id, priority: job.priority, time: time, batches: job.batches, now: now)
        jobs[id]?.batches = []
        jobs[id]?.state = .cancelled
        jobs[id]?.supersededBy = duplicate.id
    }

    // MARK: - Claiming

    /// Which tenant has had least is not modelled: of a fair queue, the first job of any lane may be next, and `choices` say which
    /// was.
    mutating func claim(_ limit: Int, poison: Bool, for worker: String, now: Int64, _ choices: [Int64]) -> [Int64] {
        acceptArrivals(now: now)
        for job in ordered where [.scheduled, .retryable].contains(job.state) && job.availableAt <= now {
            jobs[job.id]?.state = .available
        }
        var taken: [Int64] = []
        while taken.count < limit, let first = next(poison: poison).first {
            let choice = choices.dropFirst(taken.count).first ?? first
            let next = next(poison: poison).contains(choice) ? choice : first
            jobs[next]?.state = .running
            jobs[next]?.attempt += 1
            jobs[next]?.claims += 1
            jobs[next]?.worker = worker
            taken.append(next)
        }
        return taken
    }

    private func running(_ condition: (ModelJob) -> Bool) -> Int {
        jobs.values.count { $0.state == .running && condition($0) }
    }

    private func next(poison: Bool) -> [Int64] {
        let line = jobs.values.filter { $0.state == .available }.sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }
        let open = line.filter { job in
            guard (job.crashCount >= 3) == poison, !paused.contains(job.queue) else { return false }
            if let limit = queueLimits[job.queue], running({ $0.queue == job.queue }) >= limit { return false }
            guard let key = job.concurrencyKey else { return true }
            return running { $0.concurrencyKey == key } < keyLimits[key] ?? 1
        }
        guard let first = open.first, fair.contains(first.queue), !poison else { return open.prefix(1).map(\.id) }
        let ofQueue = open.filter { $0.queue == first.queue }
        return Dictionary(grouping: ofQueue, by: \.lane).values.map { $0[0] }.sorted { $0.rank < $1.rank }.map(\.id)
    }

    // MARK: - The end of an attempt

    /// Returns false if the claim is lost; then nothing changes.
    func holds(_ id: Int64, _ claim: Int) -> Bool {
        jobs[id].map { $0.state == .running && $0.claims == claim } ?? false
    }

    mutating func finish(_ id: Int64, as state: JobState) {
        jobs[id]?.state = state
        jobs[id]?.worker = nil
    }

    mutating func putBack(_ id: Int64, retryAt: Int64?, charged: Bool, deaths: Int = 0, now: Int64) {
        finish(id, as: retryAt == nil ? .available : .retryable)
        if let retryAt { jobs[id]?.availableAt = retryAt }
        if !charged { jobs[id]?.attempt -= 1 }
        jobs[id]?.crashCount += deaths
        standOrYield(id, now: now)
    }

    // MARK: - Workers

    /// Registers a worker, or extends its lease; then it is not to blame for what it lost to its silence.
    mutating func extendLease(of worker: String, until time: Int64) {
        workers[worker] = Worker(leaseUntil: time)
    }

    /// Rescues the jobs of workers that are dead, or silent while they have jobs. The death of a worker counts for each
    /// of its jobs.
    mutating func rescue(uptime: Int64, now: Int64) {
        for (name, worker) in workers.sorted(by: { $0.key < $1.key }) {
            let held = ordered.filter { $0.worker == name }
            let isLongSilent = silenceOfTheDead.map { worker.leaseUntil < uptime - $0 } ?? false
            let isDead = !worker.isAlive || isLongSilent
            guard isDead || (worker.leaseUntil < uptime && !held.isEmpty) else { continue }
            let deaths = isDead ? 1 : 0
            for job in held {
                if job.crashCount + deaths >= ClaimKind.discardAfterCrashes {
                    jobs[job.id]?.crashCount += deaths
                    finish(job.id, as: .discarded)
                } else {
                    putBack(job.id, retryAt: nil, charged: false, deaths: deaths, now: now)
                }
            }
            if isDead {
                for id in worker.suspects.sorted() { blame(id) }
                workers[name] = nil
            } else if silenceOfTheDead != nil {
                workers[name]?.suspects.formUnion(held.map(\.id))
            }
        }
    }

    /// Counts a death against a job that has gone back to the queue.
    private mutating func blame(_ id: Int64) {
        guard let job = jobs[id], !job.state.isFinal else { return }
        jobs[id]?.crashCount += 1
        if job.waits, job.crashCount + 1 >= ClaimKind.discardAfterCrashes { finish(id, as: .discarded) }
    }

    // MARK: - Operators

    mutating func cancel(_ id: Int64) {
        guard let job = jobs[id], !job.state.isFinal else { return }
        finish(id, as: .cancelled)
    }

    mutating func retry(_ id: Int64, now: Int64) {
        guard let job = jobs[id], job.state != .available, job.state != .running else { return }
        jobs[id]?.state = .available
        jobs[id]?.attempt = 0
        jobs[id]?.crashCount = 0
        jobs[id]?.availableAt = now
        jobs[id]?.supersededBy = nil
        standOrYield(id, now: now)
    }

    mutating func snooze(_ id: Int64, until time: Int64) {
        guard let job = jobs[id], job.waits else { return }
        jobs[id]?.state = .scheduled
        jobs[id]?.availableAt = time
    }

    // MARK: - Comparison

    /// The jobs that a claim may find, in the order of their ranks.
    var waiting: String {
        jobs.values.filter(\.waits).sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }
            .map { "\($0.id) \($0.state) \($0.rank) \($0.queue) \($0.lane) \($0.crashCount)" }.joined(separator: "\n")
    }

    var text: String {
        let rows = ordered.map(\.text)
        let batches = ordered.filter(\.isAccepted).flatMap { job in job.batches.sorted().map { "\(job.id) \($0)" } }
        return (rows + batches).joined(separator: "\n")
    }
}
