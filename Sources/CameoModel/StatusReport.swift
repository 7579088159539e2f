public import Foundation

/// The state of a store at one moment. JSON form: `proto-json/status-report.schema.json`.
public struct StatusReport: Hashable, Codable, Sendable {
    /// The moment that the report is about.
    public let generatedAt: Date
    /// Of the store's tables.
    public let schemaVersion: Int
    /// Jobs by state; a state without jobs is 0.
    public let jobs: [JobState: Int]
    /// By name.
    public let queues: [Queue]
    /// Jobs that ended `completed` or `discarded` during the last minute.
    public let finishedLastMinute: Finished
    /// Those that have not left the store, in the order of their starts.
    public let workers: [Worker]
    /// Pictures and thumbnails as bytes, in the database and beside it.
    public let blobs: Blobs
    /// Thumbnails that exist.
    public let thumbnails: Int
    /// The cache of originals, without what programs handed over.
    public let sources: Sources

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
        self.queues = queues
        self.finishedLastMinute = finishedLastMinute
        self.workers = workers
        self.blobs = blobs
        self.thumbnails = thumbnails
        self.sources = sources
    }

    /// How many jobs are in this state.
    public func count(_ state: JobState) -> Int { jobs[state] ?? 0 }

    /// A queue that a job or an operator has named.
    public struct Queue: Hashable, Codable, Sendable {
        /// As requests name it.
        public let name: String
        /// Jobs by state; a state without jobs is 0.
        public let jobs: [JobState: Int]
        /// Seconds that the longest-waiting `available` job has been due; nil when none waits.
        public let oldestWaitingSeconds: Double?
        /// Whether its waiting jobs are kept from the workers.
        public let paused: Bool
        /// Jobs of it that may run at once, over all workers; nil: as many as there is room for.
        public let maxRunning: Int?
        /// Jobs of it that may start within a time, as `10/s`; nil: as many as there is room for.
        public let rate: String?

        package init(
            name: String,
            jobs: [JobState: Int],
            oldestWaitingSeconds: Double?,
            paused: Bool,
            maxRunning: Int?,
            rate: String? = nil
        ) {
            self.name = name
            self.jobs = jobs.complete
            self.oldestWaitingSeconds = oldestWaitingSeconds
            self.paused = paused
            self.maxRunning = maxRunning
            self.rate = rate
        }
    }

    /// How many jobs ended how.
    public struct Finished: Hashable, Codable, Sendable {
        /// Without those that were done when they were asked for.
        public let completed, discarded: Int

        package init(completed: Int, discarded: Int) {
            self.completed = completed
            self.discarded = discarded
        }
    }

    /// A worker that has not left the store.
    public struct Worker: Hashable, Codable, Sendable, Identifiable {
        /// As jobs and attempts name it.
        public let id: String
        /// The machine that it runs on, and its process there.
        public let host: String, pid: Int
        /// Of Cameo.
        public let version: String
        /// When it opened the store.
        public let startedAt: Date
        /// Whether the worker's process holds its lock file now.
        public let isAlive: Bool
        /// Jobs that it works on at once, at most.
        public let concurrency: Int
        /// Jobs that it holds claims of.
        public let running: Int
        /// How an operator asked it to end; nil if nobody has.
        public let stopping: WorkerStop?

        package init(
            id: String,
            host: String,
            pid: Int,
            version: String,
            startedAt: Date,
            isAlive: Bool,
            concurrency: Int,
            running: Int,
            stopping: WorkerStop?
        ) {
            self.id = id
            self.host = host
            self.pid = pid
            self.version = version
            self.startedAt = startedAt
            self.isAlive = isAlive
            self.concurrency = concurrency
            self.running = running
            self.stopping = stopping
        }
    }

    /// How many blobs there are.
    public struct Blobs: Hashable, Codable, Sendable {
        /// All of them, in the database and beside it.
        public let count, bytes: Int

        package init(count: Int, bytes: Int) {
            self.count = count
            self.bytes = bytes
        }
    }

    /// How many originals are cached.
    public struct Sources: Hashable, Codable, Sendable {
        /// What there is.
        public let count, bytes: Int
        /// Removed over the store's life because the cache was over its budget.
        public let evicted, evictedBytes: Int

        package init(count: Int, bytes: Int, evicted: Int, evictedBytes: Int) {
            self.count = count
            self.bytes = bytes
            self.evicted = evicted
            self.evictedBytes = evictedBytes
        }
    }
}
