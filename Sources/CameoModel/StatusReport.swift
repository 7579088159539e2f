package import Foundation

/// The state of a store at one moment. JSON form: `proto-json/status-report.schema.json`.
package struct StatusReport: Hashable, Codable, Sendable {
    package let generatedAt: Date
    package let schemaVersion: Int
    /// Jobs by state; a state without jobs is 0.
    package let jobs: [String: Int]
    package let queues: [Queue]
    /// Jobs that ended `completed` or `discarded` during the last minute.
    package let finishedLastMinute: Finished
    package let workers: [Worker]
    package let blobs: Blobs
    package let thumbnails: Int
    package let sources: Sources

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
        self.jobs = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, jobs[$0] ?? 0) })
        self.queues = queues
        self.finishedLastMinute = finishedLastMinute
        self.workers = workers
        self.blobs = blobs
        self.thumbnails = thumbnails
        self.sources = sources
    }

    package func count(_ state: JobState) -> Int { jobs[state.rawValue] ?? 0 }

    package struct Queue: Hashable, Codable, Sendable {
        package let name: String
        /// Jobs by state; a state without jobs is 0.
        package let jobs: [String: Int]
        /// Seconds that the longest-waiting `available` job has been due; nil when none waits.
        package let oldestWaitingSeconds: Double?
        /// Whether its waiting jobs are kept from the workers.
        package let paused: Bool
        /// Jobs of it that may run at once, over all workers; nil: as many as there is room for.
        package let maxRunning: Int?
        /// Jobs of it that may start within a time, as `10/s`; nil: as many as there is room for.
        package let rate: String?

        package init(
            name: String,
            jobs: [JobState: Int],
            oldestWaitingSeconds: Double?,
            paused: Bool,
            maxRunning: Int?,
            rate: String? = nil
        ) {
            self.name = name
            self.jobs = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, jobs[$0] ?? 0) })
            self.oldestWaitingSeconds = oldestWaitingSeconds
            self.paused = paused
            self.maxRunning = maxRunning
            self.rate = rate
        }
    }

    package struct Finished: Hashable, Codable, Sendable {
        package let completed: Int
        package let discarded: Int

        package init(completed: Int, discarded: Int) {
            self.completed = completed
            self.discarded = discarded
        }
    }

    package struct Worker: Hashable, Codable, Sendable {
        package let id: String
        package let host: String
        package let pid: Int
        package let version: String
        package let startedAt: Date
        /// Whether the worker's process holds its lock file now.
        package let isAlive: Bool
        package let concurrency: Int
        /// Jobs that it holds claims of.
        package let running: Int
        /// How an operator asked it to end; nil if nobody has.
        package let stopping: WorkerStop?

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

    package struct Blobs: Hashable, Codable, Sendable {
        package let count: Int
        /// All of them, in the database and beside it.
        package let bytes: Int

        package init(count: Int, bytes: Int) {
            self.count = count
            self.bytes = bytes
        }
    }

    /// The cache of originals, without what programs handed over.
    package struct Sources: Hashable, Codable, Sendable {
        package let count: Int
        package let bytes: Int
        /// Removed over the store's life because the cache was over its budget.
        package let evicted: Int
        package let evictedBytes: Int

        package init(count: Int, bytes: Int, evicted: Int, evictedBytes: Int) {
            self.count = count
            self.bytes = bytes
            self.evicted = evicted
            self.evictedBytes = evictedBytes
        }
    }
}
