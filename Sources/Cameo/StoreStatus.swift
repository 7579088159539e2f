internal import CameoModel
public import Foundation

/// The state of a store at one moment.
public struct StoreStatus: Hashable, Sendable {
    /// A queue that a job or an operator has named.
    public struct Queue: Hashable, Sendable, Identifiable {
        /// The queue's name.
        public var id: String { name }
        /// As requests name it.
        public let name: String
        /// Jobs in each state; a state without jobs is left out.
        public let jobs: [JobState: Int]
        /// For how long the available job has been due that waits longest; nil when none waits.
        public let longestWait: Duration?
        /// Whether its waiting jobs are kept from the workers.
        public let isPaused: Bool
        /// Jobs of it that may run at once over all workers; nil: as many as there is room for.
        public let maxRunning: Int?
        /// Jobs of it that may start within a time, over all workers; nil: as many as there is room for.
        public let rate: StartRate?
    }

    /// A worker that has not left the store.
    public struct Worker: Hashable, Sendable, Identifiable {
        /// How a worker is ended from outside.
        public enum Stop: Hashable, Sendable {
            /// It finishes the jobs that it has begun, however long they take.
            case drain
            /// It gives them back at once, uncharged.
            case now
        }

        /// As jobs and attempts name it.
        public let id: String
        /// The machine that it runs on.
        public let host: String
        /// On that machine.
        public let processID: Int
        /// Of Cameo.
        public let version: String
        /// When it opened the store.
        public let startedAt: Date
        /// Whether its process lives; jobs of a dead one are taken back.
        public let isAlive: Bool
        /// Jobs that it works on at once, at most.
        public let concurrency: Int
        /// Jobs that it has begun.
        public let running: Int
        /// How it was asked to end; nil if nobody has.
        public let stopping: Stop?
    }

    /// Jobs in each state, of all queues; a state without jobs is left out.
    public let jobs: [JobState: Int]
    /// By name.
    public let queues: [Queue]
    /// In the order of their starts.
    public let workers: [Worker]
    /// Jobs that ended so during the last minute, but for those that were done when they were asked for.
    public let completedLastMinute: Int
    /// Likewise.
    public let discardedLastMinute: Int
    /// Thumbnails that exist.
    public let thumbnails: Int
    /// Pictures and thumbnails as bytes, in the database and beside it.
    public let blobs: Int
    /// Their length.
    public let blobBytes: Int
    /// Originals that were loaded from elsewhere and are kept.
    public let sources: Int
    /// Their length.
    public let sourceBytes: Int

    init(_ report: StatusReport) {
        jobs = Self.counts(report.jobs)
        queues = report.queues.map(Queue.init)
        workers = report.workers.map(Worker.init)
        completedLastMinute = report.finishedLastMinute.completed
        discardedLastMinute = report.finishedLastMinute.discarded
        thumbnails = report.thumbnails
        (blobs, blobBytes) = (report.blobs.count, report.blobs.bytes)
        (sources, sourceBytes) = (report.sources.count, report.sources.bytes)
    }

    fileprivate static func counts(_ counts: [String: Int]) -> [JobState: Int] {
        counts.reduce(into: [:]) { jobs, entry in
            if let state = JobState(rawValue: entry.key), entry.value > 0 { jobs[state] = entry.value }
        }
    }
}

extension StoreStatus.Queue {
    init(_ queue: StatusReport.Queue) {
        self.init(
            name: queue.name,
            jobs: StoreStatus.counts(queue.jobs),
            longestWait: queue.oldestWaitingSeconds.map { .seconds($0) },
            isPaused: queue.paused,
            maxRunning: queue.maxRunning,
            rate: queue.rate.flatMap(StartRate.init(text:))
        )
    }
}

extension StoreStatus.Worker {
    init(_ worker: StatusReport.Worker) {
        self.init(
            id: worker.id,
            host: worker.host,
            processID: worker.pid,
            version: worker.version,
            startedAt: worker.startedAt,
            isAlive: worker.isAlive,
            concurrency: worker.concurrency,
            running: worker.running,
            stopping: worker.stopping.map(Stop.init)
        )
    }
}

extension StoreStatus.Worker.Stop {
    init(_ stop: WorkerStop) {
        self =
            switch stop {
            case .drain: .drain
            case .now: .now
            }
    }

    var model: WorkerStop {
        switch self {
        case .drain: .drain
        case .now: .now
        }
    }
}
