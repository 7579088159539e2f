public import Foundation

/// The answer to an accepted request. JSON form: `proto-json/enqueue-receipt.schema.json`.
public struct EnqueueReceipt: Hashable, Codable, Sendable {
    /// The effect of an accepted request.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        /// A new job was created.
        case accepted
        /// The request was merged into a waiting job for the same thumbnails or with the same unique key.
        case joined
        /// No job was needed: the thumbnails exist and are fresh enough for the request's ``Refresh``.
        case fresh
    }

    /// Whether a job was created, joined or not needed.
    public let outcome: Outcome
    /// The job that makes the thumbnails. If none need making, the completed job that represents the request in its
    /// batch; nil without a batch.
    public let id: Int64?
    /// The job's state, or `completed` if there is no job.
    public let state: JobState
    /// The source as requested, or the name assigned to uploaded bytes.
    public let source: String
    /// The queue as requested.
    public let queue: String
    /// The batch as requested.
    public let batch: String?
    /// When the request was accepted.
    public let createdAt: Date
    /// When the job becomes due.
    public let availableAt: Date
    /// The thumbnails' URIs, known before anything is rendered, in the order of the request's renditions.
    public let thumbnails: [RequestedThumbnail]
    /// The metadata as requested.
    public let metadata: [String: JSONValue]?

    package init(
        _ outcome: Outcome,
        _ request: ThumbnailRequest,
        _ id: Int64?,
        _ state: JobState,
        createdAt: Date,
        due: Date,
        _ thumbnails: [RequestedThumbnail]
    ) {
        (self.outcome, self.id, self.state) = (outcome, id, state)
        source = request.source
        queue = request.queue
        batch = request.batch
        self.createdAt = createdAt
        availableAt = due
        self.thumbnails = thumbnails
        metadata = request.metadata.isEmpty ? nil : request.metadata
    }
}

/// The progress of one batch. JSON form: `proto-json/batch-report.schema.json`.
public struct BatchReport: Hashable, Codable, Sendable {
    /// The number of jobs discarded for one reason.
    public struct Failures: Hashable, Codable, Sendable {
        /// The reason.
        public let code: JobFailure.Code
        /// The number of jobs.
        public let count: Int

        package init(code: JobFailure.Code, count: Int) {
            self.code = code
            self.count = count
        }
    }

    /// When the report was taken.
    public let generatedAt: Date
    /// The batch's name, as given in its requests.
    public let name: String
    /// Jobs by state; a state without jobs is 0.
    public let jobs: [JobState: Int]
    /// Jobs of the batch that are still in the store.
    public let total: Int
    /// Jobs in any final state.
    public let finished: Int
    /// The reasons why jobs were discarded, the most frequent first.
    public let failures: [Failures]
    /// Jobs that ended within the last minute.
    public let finishedLastMinute: Int
    /// Estimated seconds until the remaining jobs have ended, at the rate of the last minute; nil when none remain,
    /// none runs or none ended.
    public let secondsLeft: Double?
    /// When the batch was sealed; nil if it was not, or has ended since.
    public package(set) var sealedAt: Date?
    /// What became of the batch when it last ended; nil if it never did, because nobody has sealed it.
    public package(set) var end: BatchEnd?

    /// `rate` is the number of jobs of the batch that currently end per second.
    package init(
        name: String,
        generatedAt: Date,
        jobs: [JobState: Int],
        failures: [Failures],
        finishedLastMinute: Int,
        rate: Double
    ) {
        self.name = name
        self.generatedAt = generatedAt
        self.jobs = jobs.complete
        total = jobs.values.reduce(0, +)
        finished = jobs.filter(\.key.isFinal).values.reduce(0, +)
        self.failures = failures.sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
        self.finishedLastMinute = finishedLastMinute
        secondsLeft = (jobs[.running] ?? 0) > 0 && rate > 0 ? Double(total - finished) / rate : nil
    }

    /// The number of jobs in a state.
    public func count(_ state: JobState) -> Int { jobs[state] ?? 0 }

    /// Whether all jobs have ended.
    public var isFinished: Bool { finished == total }
}
