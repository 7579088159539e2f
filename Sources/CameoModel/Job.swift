public import Foundation

/// A job as shown in reports. JSON form: `proto-json/job.schema.json`.
public struct Job: Hashable, Codable, Sendable, Identifiable {
    /// The job's number in its store.
    public let id: Int64
    /// The state when the report was taken.
    public let state: JobState
    /// The queue as requested.
    public let queue: String
    /// The priority as requested, or a higher one from a request that joined.
    public let priority: Int
    /// The batch as requested.
    public let batch: String?
    /// Attempts counted so far; an attempt lost to the death of a worker is not counted.
    public let attempt: Int
    /// The number of attempts after which a failure is final.
    public let maxAttempts: Int
    /// The number of times that a worker died while running this job.
    public let crashCount: Int
    /// When the request was accepted.
    public let createdAt: Date
    /// When the job becomes due.
    public let availableAt: Date
    /// When the last attempt began.
    public let attemptedAt: Date?
    /// When the job ended; nil until then.
    public let finalizedAt: Date?
    /// The id of the worker that runs the job, or ran it last.
    public let worker: String?
    /// The last failure, including that of a job that waits for its next attempt.
    public let failure: JobFailure?
    /// The job that superseded this cancelled one, because it was already waiting for the same thumbnails.
    public let supersededBy: Int64?
    /// The request as enqueued. It may be invalid, because the table accepts a little more than a worker does.
    public private(set) var request: JSONValue
    /// The requested thumbnails, in the order of the renditions; empty if the request is invalid.
    public let thumbnails: [RequestedThumbnail]
    /// Every attempt, oldest first; nil in lists of jobs.
    public let attempts: [JobAttempt]?

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
        supersededBy: Int64?,
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
        self.supersededBy = supersededBy
        self.request = request
        self.thumbnails = thumbnails
        self.attempts = attempts
    }

    /// The source as given in the request; nil if the request has none.
    public var source: String? {
        guard case .object(let members) = request, case .string(let source)? = members["source"] else { return nil }
        return source
    }

    /// The job for everyone who may see jobs: "…" in place of the values of the request's headers and of the passwords in its
    /// URLs.
    package var withoutSecrets: Job {
        guard case .object(var members) = request else { return self }
        if case .object(let headers)? = members["headers"] {
            members["headers"] = .object(headers.mapValues { _ in "…" })
        } else if members["headers"] != nil {
            members["headers"] = "…"
        }
        if let source { members["source"] = .string(SourceName.withoutPassword(source)) }
        members["renditions"] = members["renditions"].map(Self.withoutPasswords)
        var job = self
        job.request = .object(members)
        return job
    }

    private static func withoutPasswords(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): return .array(values.map(withoutPasswords))
        case .object(var members):
            members = members.mapValues(withoutPasswords)
            if case .string(let source)? = members["source"] {
                members["source"] = .string(SourceName.withoutPassword(source))
            }
            return .object(members)
        default: return value
        }
    }

    /// The metadata that the producer attached to the request.
    public var metadata: [String: JSONValue] {
        guard case .object(let members) = request, case .object(let data)? = members["metadata"] else { return [:] }
        return data
    }
}
