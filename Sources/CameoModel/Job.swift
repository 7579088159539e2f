package import Foundation

/// A job as a report shows it. JSON form: `proto-json/job.schema.json`.
package struct Job: Hashable, Codable, Sendable {
    package let id: Int64
    package let state: JobState
    package let queue: String
    package let priority: Int
    package let batch: String?
    /// Attempts charged so far; the death of a worker gives its attempt back.
    package let attempt: Int
    package let maxAttempts: Int
    /// How often a worker died while it ran this job.
    package let crashCount: Int
    package let createdAt: Date
    /// Due from then on.
    package let availableAt: Date
    package let attemptedAt: Date?
    package let finalizedAt: Date?
    package let worker: String?
    /// The last failure, also of a job that waits for its next attempt.
    package let failure: JobFailure?
    /// As it was enqueued. Not yet validated: the table accepts a little more than a worker does.
    package let request: JSONValue
    /// In the order of the request's renditions; empty for a request that is invalid.
    package let thumbnails: [RequestedThumbnail]
    /// Every try, oldest first; nil where only a list of jobs was asked for.
    package let attempts: [JobAttempt]?

    package init(
        id: Int64,
        state: JobState,
        queue: String,
        priority: Int,
        batch: String?,
        attempt: Int,
        maxAttempts: Int,
        crashCount: Int,
        createdAt: Date,
        availableAt: Date,
        attemptedAt: Date?,
        finalizedAt: Date?,
        worker: String?,
        failure: JobFailure?,
        request: JSONValue,
        thumbnails: [RequestedThumbnail],
        attempts: [JobAttempt]?
    ) {
        self.id = id
        self.state = state
        self.queue = queue
        self.priority = priority
        self.batch = batch
        self.attempt = attempt
        self.maxAttempts = maxAttempts
        self.crashCount = crashCount
        self.createdAt = createdAt
        self.availableAt = availableAt
        self.attemptedAt = attemptedAt
        self.finalizedAt = finalizedAt
        self.worker = worker
        self.failure = failure
        self.request = request
        self.thumbnails = thumbnails
        self.attempts = attempts
    }

    /// The source as it stands in the request; nil if the request has none.
    package var source: String? {
        guard case .object(let members) = request, case .string(let source)? = members["source"] else { return nil }
        return source
    }
}

/// A thumbnail that a job asks for: its URI always, the rest once it exists.
package struct RequestedThumbnail: Hashable, Codable, Sendable {
    /// The rendition's name.
    package let name: String
    /// `cameo://thumb/<id>`
    package let uri: String
    /// `cameo://blob/sha256-<64 hex>`
    package let blob: String?
    /// Pixels.
    package let width: Int?
    package let height: Int?
    package let format: String?
    package let bytes: Int?

    package init(name: String, id: ThumbnailID, thumbnail: Thumbnail?) {
        self.name = name
        uri = CameoURI.thumbnail(id).text
        blob = thumbnail.map { CameoURI.blob($0.blob).text }
        width = thumbnail?.width
        height = thumbnail?.height
        format = thumbnail?.format.rawValue
        bytes = thumbnail?.bytes
    }
}

/// One try of a job: what became of it and where its time went.
package struct JobAttempt: Hashable, Codable, Sendable {
    /// What became of a try.
    package enum Outcome: String, Codable, CaseIterable, Sendable {
        case running, completed, retryable, discarded, cancelled
        /// Given back unharmed by a worker that shut down; not charged.
        case released
        /// The worker died or its lease ran out; not charged.
        case interrupted
    }

    /// 1 for the first try, counting every one, charged or not.
    package let number: Int
    package let worker: String
    package let startedAt: Date
    package let finishedAt: Date?
    package let outcome: Outcome
    package let failure: JobFailure?
    /// Milliseconds spent on fetching the source, rendering, and storing.
    package let fetchMilliseconds: Int?
    package let renderMilliseconds: Int?
    package let storeMilliseconds: Int?
    package let sourceBytes: Int?
    package let outputBytes: Int?

    package init(
        number: Int,
        worker: String,
        startedAt: Date,
        finishedAt: Date?,
        outcome: Outcome,
        failure: JobFailure?,
        timings: AttemptTimings
    ) {
        self.number = number
        self.worker = worker
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.outcome = outcome
        self.failure = failure
        fetchMilliseconds = timings.fetchMilliseconds
        renderMilliseconds = timings.renderMilliseconds
        storeMilliseconds = timings.storeMilliseconds
        sourceBytes = timings.sourceBytes
        outputBytes = timings.outputBytes
    }
}

/// Where the time of one try went (milliseconds) and what it moved (bytes); nil for a step not reached.
package struct AttemptTimings: Hashable, Sendable {
    package var fetchMilliseconds: Int?
    package var renderMilliseconds: Int?
    package var storeMilliseconds: Int?
    package var sourceBytes: Int?
    package var outputBytes: Int?

    package init() {}
}
