public import Foundation

/// The state of a store at one moment. JSON form: `proto-json/status-report.schema.json`.
public struct StatusReport: Hashable, Codable, Sendable {
    /// When the report was taken.
    public let generatedAt: Date
    /// The schema version of the store.
    public let schemaVersion: Int
    /// Jobs by state; a state without jobs is 0.
    public let jobs: [JobState: Int]
    /// All queues, sorted by name.
    public let queues: [Queue]
    /// Jobs that ended `completed` or `discarded` during the last minute: the first entry of ``throughput``.
    public let finishedLastMinute: Finished
    /// Registered workers, in the order they started.
    public let workers: [Worker]
    /// Stored blobs, in the database and in files.
    public let blobs: Blobs
    /// The number of thumbnails.
    public let thumbnails: Int
    /// The cache of originals, without uploads.
    public let sources: Sources
    /// Jobs that ended during the last 1, 5 and 15 minutes.
    public package(set) var throughput: [Throughput] = []
    /// How long each stage of the newest 500 completed jobs took; a stage that none of them had is absent.
    public package(set) var stages: [StageTimes] = []
    /// The most frequent codes, at most 5, of the newest 500 discarded jobs and the newest 500 unfinished ones that failed
    /// before.
    public package(set) var failures: [Failures] = []
    /// How long the due jobs of queues that are not paused and wait for no quiet hours will take at the throughput of the
    /// last 5 minutes, in seconds; nil if there are none, or if no job ended or no worker takes them.
    public package(set) var etaSeconds: Double?
    /// How long the oldest commit has waited for a synchronous standby, in seconds; nil: none has for three seconds, as far as
    /// the database shows it to this role.
    public package(set) var commitWaitSeconds: Double?

    /// The deliveries that were given up, by hook; nil if there are none.
    public package(set) var undelivered: [Undelivered]?
    /// The attached tables whose rows are not followed at present; nil if there are none.
    public package(set) var unfollowed: [Unfollowed]?
    /// The tenants of fair queues that have jobs, or had some in the last minute: of each queue the ten that wait longest; nil if
    /// there are none.
    public package(set) var tenants: [Tenant]?

    package init(
        generatedAt: Date,
        schemaVersion: Int,
        jobs: [JobState: Int],
        queues: [Queue],
        finishedLastMinute: Finished,
        workers: [Worker],
        blobs: Blobs,
        thumbnails: Int,
        sources: Sources
    ) {
        self.generatedAt = generatedAt
        self.schemaVersion = schemaVersion
        self.jobs = jobs.complete
        (self.queues, self.finishedLastMinute, self.workers, self.blobs) = (queues, finishedLastMinute, workers, blobs)
        (self.thumbnails, self.sources) = (thumbnails, sources)
    }

    /// The number of jobs in a state.
    public func count(_ state: JobState) -> Int { jobs[state] ?? 0 }

    /// A column whose rows are not followed (`cameo-admin attach`).
    public struct Unfollowed: Hashable, Codable, Sendable {
        /// The attachment's name: `users.picture`.
        public let name: String
        /// Why, for people.
        public let reason: String

        package init(name: String, reason: String) { (self.name, self.reason) = (name, reason) }
    }

    /// A queue that a job or an operator has named.
    public struct Queue: Hashable, Codable, Sendable {
        /// The queue's name, as used in requests.
        public let name: String
        /// Jobs by state; a state without jobs is 0.
        public let jobs: [JobState: Int]
        /// How long the oldest `available` job has been due, in seconds; nil if none is waiting.
        public package(set) var oldestWaitingSeconds: Double?
        /// Whether the queue is paused: its waiting jobs are not claimed.
        public package(set) var paused = false
        /// Since when it is paused; nil if it is not, or was paused by an older version.
        public package(set) var pausedAt: Date?
        /// The number of jobs that may run at once, over all workers; nil if unlimited.
        public package(set) var maxRunning: Int?
        /// How many jobs may start per period, e.g. `10/s`; nil if unlimited.
        public package(set) var rate: String?
        /// The hook that is told of the end of each of its jobs; nil if an operator has set none.
        public package(set) var hook: String?
        /// Whether its jobs run only when those of other queues are not waiting; nil for false.
        public package(set) var background: Bool?
        /// Whether it shares workers between tenants; nil for false.
        public package(set) var fair: Bool?
        /// When a worker's quiet hours let its jobs start; nil: now, or no worker is alive.
        public internal(set) var opensAt: Date?

        package init(name: String, jobs: [JobState: Int]) {
            self.name = name
            self.jobs = jobs.complete
        }

        package var isBackground: Bool { background ?? false }
    }

    /// What a tenant of a queue has.
    public struct Tenant: Hashable, Codable, Sendable {
        /// The tenant's name, as in requests, and the queue's.
        public let tenant: String, queue: String
        /// Jobs that can be claimed, and that run.
        public let waiting: Int, running: Int
        /// How long its first job has been due, in seconds; nil if none is waiting.
        public let oldestWaitingSeconds: Double?
        /// The weights that a tenant may have.
        package static let weights = 0.01...100

        /// How much it gets in fair queues, beside a tenant of weight 1.
        public let weight: Double
        /// Its part of what tenants of the queue have had in the last minute, 0 to 1; nil if that was nothing, or the queue is not
        /// fair.
        public let share: Double?
        /// What it has had since the queue is fair, in seconds of processors.
        public let cpuSeconds: Double

        package init(
            tenant: String,
            queue: String,
            waiting: Int,
            running: Int,
            oldestWaitingSeconds: Double?,
            weight: Double,
            share: Double?,
            cpuSeconds: Double
        ) {
            (self.tenant, self.queue, self.waiting, self.running) = (tenant, queue, waiting, running)
            (self.oldestWaitingSeconds, self.weight) = (oldestWaitingSeconds, weight)
            (self.share, self.cpuSeconds) = (share, cpuSeconds)
        }
    }

    /// Counts of ended jobs.
    public struct Finished: Hashable, Codable, Sendable {
        /// Completed and discarded jobs. Requests that needed no job are not counted.
        public let completed, discarded: Int

        package init(completed: Int, discarded: Int) {
            self.completed = completed
            self.discarded = discarded
        }
    }

    /// A registered worker.
    public struct Worker: Hashable, Codable, Sendable, Identifiable {
        /// The worker's id, as it appears in jobs and attempts.
        public let id: String
        /// The machine that the worker runs on and its process id there.
        public let host: String, pid: Int
        /// The worker's version of Cameo.
        public let version: String
        /// When the worker opened the store.
        public let startedAt: Date
        /// Whether the worker's process lives: by its lock in a store's folder, by its lease in a fleet.
        public let isAlive: Bool
        /// The maximum number of jobs that the worker runs at once.
        public let concurrency: Int
        /// The number of jobs that the worker has claimed.
        public let running: Int
        /// How an operator asked the worker to stop; nil if none did.
        public package(set) var stopping: WorkerStop?
        /// The version of the pictures that the worker makes, as thumbnails carry it; nil: unknown.
        public package(set) var rendererVersion: String?
        /// When the worker takes jobs of background queues, and what its local time differs from UTC:
        /// `22:00-06:00 UTC+01:00`; nil: always.
        public package(set) var quietHours: String?
        /// When these hours next begin and end.
        public package(set) var backgroundOpensAt, backgroundClosesAt: Date?
        /// Why the worker's local time is UTC although it should be another; nil: it is not.
        public package(set) var timeZoneFault: String?
        /// The queues that the worker takes jobs of; nil: all.
        public package(set) var queues: [String]?
        /// What the worker's host cannot do, such as `write:avif`; nil: nothing.
        public package(set) var lacks: [String]?
        /// What the store has refused the worker; nil: nothing.
        public package(set) var trouble: Trouble?
        /// The jobs that the worker has run longest, at most 4.
        public package(set) var current: [RunningJob] = []

        /// What keeps a worker from claiming jobs or from recording their ends, or from removing what has expired.
        public struct Trouble: Hashable, Codable, Sendable {
            /// The store's latest refusal, for people to read.
            public let reason: String
            /// When the first of what is still refused was.
            public let since: Date
            /// False if jobs go on, and only what has expired cannot be removed; otherwise nil.
            public let blocksJobs: Bool?

            /// What to say of the worker: `waits for the store since …: …`.
            package var text: String {
                let what = blocksJobs == false ? "cannot remove what has expired" : "waits for the store"
                return "\(what) since \(WireFormat.text(of: since)): \(reason)"
            }

            package init(reason: String, since: Date, blocksJobs: Bool = true) {
                self.reason = reason
                self.since = since
                self.blocksJobs = blocksJobs ? nil : false
            }
        }

        /// Whether nothing keeps the worker from its jobs.
        package var isUnhindered: Bool { trouble.map { $0.blocksJobs == false } ?? true }

        package init(
            id: String,
            host: String,
            pid: Int,
            version: String,
            startedAt: Date,
            isAlive: Bool,
            concurrency: Int,
            running: Int
        ) {
            (self.id, self.host, self.pid, self.version, self.startedAt) = (id, host, pid, version, startedAt)
            (self.isAlive, self.concurrency, self.running) = (isAlive, concurrency, running)
        }

        /// Whether the worker starts jobs of a queue.
        package func takesJobs(of queue: String) -> Bool {
            isAlive && stopping == nil && queues?.contains(queue) ?? true
        }
    }

    /// Counts of blobs.
    public struct Blobs: Hashable, Codable, Sendable {
        /// The number of blobs and their total bytes, in the database and in files.
        public let count, bytes: Int

        package init(count: Int, bytes: Int) {
            self.count = count
            self.bytes = bytes
        }
    }

    /// Counts of cached originals.
    public struct Sources: Hashable, Codable, Sendable {
        /// The number of originals and their total bytes.
        public let count, bytes: Int
        /// Originals evicted over the store's life because the cache exceeded its budget.
        public let evicted, evictedBytes: Int

        package init(count: Int, bytes: Int, evicted: Int, evictedBytes: Int) {
            (self.count, self.bytes, self.evicted, self.evictedBytes) = (count, bytes, evicted, evictedBytes)
        }
    }

    /// Jobs that ended during the last minutes.
    public struct Throughput: Hashable, Codable, Sendable {
        /// The length of the period that ends with the report: 1, 5 or 15 minutes.
        public let minutes: Int
        /// Jobs that ended `completed` or `discarded`. Where thousands ended, the numbers are estimates, mostly within
        /// a tenth.
        public let completed, discarded: Int
        /// The seconds of the period in which there was work, at least 1.
        public let seconds: Double

        package init(minutes: Int, completed: Int, discarded: Int, seconds: Double) {
            (self.minutes, self.completed, self.discarded, self.seconds) = (minutes, completed, discarded, seconds)
        }

        /// Ended jobs per second of work.
        public var perSecond: Double { Double(completed + discarded) / seconds }
    }

    /// How long one stage of recent jobs took.
    public struct StageTimes: Hashable, Codable, Sendable {
        /// A stage of an attempt.
        public enum Stage: String, Codable, CaseIterable, Sendable {
            /// From the time when the job was due until a worker claimed it.
            case wait
            /// Fetching the source and overlays.
            case fetch
            /// Waiting for a renderer.
            case queue
            /// Rendering.
            case render
            /// Storing the thumbnails.
            case store
        }

        /// The stage.
        public let stage: Stage
        /// The median and the 95th percentile, in milliseconds.
        public let p50, p95: Int

        package init(stage: Stage, p50: Int, p95: Int) {
            (self.stage, self.p50, self.p95) = (stage, p50, p95)
        }
    }

    /// Jobs that failed last with the same code.
    public struct Failures: Hashable, Codable, Sendable {
        /// The code that they have in common.
        public let code: JobFailure.Code
        /// The number of these jobs among the newest failed ones.
        public let count: Int
        /// The newest of them.
        public let example: FailedJob

        package init(code: JobFailure.Code, count: Int, example: FailedJob) {
            (self.code, self.count, self.example) = (code, count, example)
        }
    }

    /// A job and its last failure.
    public struct FailedJob: Hashable, Codable, Sendable, Identifiable {
        /// The job's number.
        public let id: Int64
        /// A readable name of the job's source, without credentials; nil if its request has none.
        public let source: String?
        /// The failure's message.
        public let message: String

        package init(id: Int64, source: String?, message: String) {
            (self.id, self.source, self.message) = (id, source, message)
        }
    }

    /// Deliveries to a hook that were given up, and that a retry would make due again.
    public struct Undelivered: Hashable, Codable, Sendable {
        /// The hook's name.
        public let hook: String
        /// The number of these deliveries.
        public let count: Int

        package init(hook: String, count: Int) {
            (self.hook, self.count) = (hook, count)
        }
    }

    /// A job that a worker runs at the moment.
    public struct RunningJob: Hashable, Codable, Sendable, Identifiable {
        /// The job's number.
        public let id: Int64
        /// A readable name of the job's source, without credentials.
        public let source: String?
        /// When the worker claimed the job.
        public let since: Date

        package init(id: Int64, source: String?, since: Date) {
            (self.id, self.source, self.since) = (id, source, since)
        }
    }

    /// The jobs per second that workers end in the background at least, as far as jobs that have ended tell; nil if none has.
    /// What ended in a while tells how much there was to do, and the stages of a job what it takes.
    package var backgroundRate: Double? {
        let work = stages.filter { $0.stage != .wait && $0.stage != .queue }.reduce(0) { $0 + $1.p50 }
        let taking = workers.filter { $0.isAlive && $0.isUnhindered }.count
        let rates = throughput.map(\.perSecond) + (work > 0 ? [Double(max(1, taking)) * 1_000 / Double(work)] : [])
        return rates.max().flatMap { $0 > 0 ? $0 : nil }
    }

    /// Why due jobs are not worked on.
    package var standstills: [Standstill] {
        let waiting = queues.filter { ($0.jobs[.available] ?? 0) > 0 }
        return Standstill.all(of: waiting.map { ($0.name, $0.paused) }, workers: workers)
    }
}

/// Whether a store is being worked on as it should be. JSON form: `proto-json/health-report.schema.json`.
public struct HealthReport: Hashable, Codable, Sendable {
    /// One thing that was looked at.
    public struct Check: Hashable, Codable, Sendable {
        /// What a check is about.
        public enum Name: String, CaseIterable, Codable, Sendable {
            /// Whether enough workers are alive.
            case workers
            /// How long the longest-waiting due job of a queue that is neither paused nor a background queue has waited.
            case lag
            /// Whether commits wait for a synchronous standby; only if they do.
            case commits
            /// Whether deliveries to hooks were given up; only if some were.
            case hooks
            /// Whether all attached tables are followed.
            case tables
        }

        /// What it is about.
        public let name: Name
        /// Whether it is as it should be.
        public let isHealthy: Bool
        /// What was found, and the limit, for a person.
        public let detail: String

        package init(name: Name, isHealthy: Bool, detail: String) {
            (self.name, self.isHealthy, self.detail) = (name, isHealthy, detail)
        }
    }

    /// Whether every check is.
    public let isHealthy: Bool
    /// All that was looked at.
    public let checks: [Check]

    package init(checks: [Check]) {
        isHealthy = checks.allSatisfy(\.isHealthy)
        self.checks = checks
    }
}

/// Why due jobs are not worked on.
package enum Standstill: Hashable, Sendable {
    case noWorker
    case paused(queue: String)
    case untaken(queue: String)

    /// The reasons for the queues with due jobs; none if workers may take all of these.
    package static func all(
        of queues: [(name: String, isPaused: Bool)],
        workers: [StatusReport.Worker]
    ) -> [Standstill] {
        guard !queues.isEmpty else { return [] }
        let hasWorkers = workers.contains { $0.isAlive && $0.stopping == nil }
        return (hasWorkers ? [] : [.noWorker])
            + queues.compactMap { queue in
                if queue.isPaused { return .paused(queue: queue.name) }
                let isTaken = !hasWorkers || workers.contains { $0.takesJobs(of: queue.name) }
                return isTaken ? nil : .untaken(queue: queue.name)
            }
    }
}
