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
    public package(set) var batch: String?
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
    public package(set) var attemptedAt: Date?
    /// When the job ended; nil until then.
    public package(set) var finalizedAt: Date?
    /// The id of the worker that runs the job, or ran it last.
    public package(set) var worker: String?
    /// The last failure, including that of a job that waits for its next attempt.
    public package(set) var failure: JobFailure?
    /// The job that superseded this cancelled one, because it was already waiting for the same thumbnails.
    public package(set) var supersededBy: Int64?
    /// The request as enqueued. It may be invalid, because the table accepts a little more than a worker does.
    public private(set) var request: JSONValue
    /// The requested thumbnails, in the order of the renditions; empty if the request is invalid.
    public let thumbnails: [RequestedThumbnail]
    /// Every attempt, oldest first; nil in lists of jobs.
    public package(set) var attempts: [JobAttempt]?

    package init(
        id: Int64,
        state: JobState,
        queue: String,
        priority: Int,
        attempt: Int,
        maxAttempts: Int,
        crashCount: Int,
        createdAt: Date,
        availableAt: Date,
        request: JSONValue,
        thumbnails: [RequestedThumbnail]
    ) {
        (self.id, self.state, self.queue, self.priority, self.attempt) = (id, state, queue, priority, attempt)
        (self.maxAttempts, self.crashCount, self.createdAt) = (maxAttempts, crashCount, createdAt)
        (self.availableAt, self.request, self.thumbnails) = (availableAt, request, thumbnails)
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

    /// JSON in which no source has a password.
    static func withoutPasswords(_ value: JSONValue) -> JSONValue {
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

/// The state of a job, in the terms of River and Oban.
public enum JobState: String, Codable, CodingKeyRepresentable, CaseIterable, Sendable {
    /// Due at a later time that the producer chose.
    case scheduled
    /// Due now and waiting for a worker.
    case available
    /// A worker holds its claim token.
    case running
    /// Failed and due again after its back-off, or postponed because the source's host is busy or the store refuses what
    /// comes of it.
    case retryable
    /// All its thumbnails are in the store.
    case completed
    /// Failed for good, with a named reason.
    case discarded
    /// Cancelled before completion.
    case cancelled

    /// Whether a job leaves this state only by a manual retry.
    public var isFinal: Bool {
        switch self {
        case .scheduled, .available, .running, .retryable: false
        case .completed, .discarded, .cancelled: true
        }
    }
}

extension [JobState: Int] {
    /// The counts, with 0 for each missing state.
    var complete: Self { merging(JobState.allCases.map { ($0, 0) }) { count, _ in count } }
}

/// One attempt at a job: its outcome and its timings.
public struct JobAttempt: Hashable, Codable, Sendable {
    /// How an attempt ended.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case running, completed, retryable, discarded, cancelled
        /// Released by a worker that shut down; not counted as an attempt.
        case released
        /// The worker died or its lease expired; not counted as an attempt.
        case interrupted
        /// An outcome that a newer version defines.
        case unknown

        /// Decodes any word; an unrecognised one becomes ``unknown``.
        public init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// How far a download has come.
    public struct Transfer: Hashable, Codable, Sendable {
        /// Bytes received, with those of an earlier attempt that were kept.
        public let receivedBytes: Int
        /// The size of the whole; nil if the server has not said it.
        public let totalBytes: Int?

        package init(receivedBytes: Int, totalBytes: Int?) {
            self.receivedBytes = receivedBytes
            self.totalBytes = totalBytes
        }
    }

    /// 1 for the first attempt; released and interrupted attempts have numbers too.
    public let number: Int
    /// The id of the worker that ran the job.
    public let worker: String
    /// When the job was claimed.
    public let startedAt: Date
    /// When the attempt ended; nil while it runs.
    public package(set) var finishedAt: Date?
    /// How the attempt ended.
    public let outcome: Outcome
    /// The failure; nil unless the attempt failed.
    public package(set) var failure: JobFailure?
    /// Time spent waiting for the source's host or for memory.
    public package(set) var throttledMilliseconds: Int?
    /// Time spent fetching the source and overlays, without waiting.
    public package(set) var fetchMilliseconds: Int?
    /// Time spent waiting for a renderer.
    public package(set) var queueMilliseconds: Int?
    /// Time spent rendering, and storing.
    public package(set) var renderMilliseconds, storeMilliseconds: Int?
    /// Bytes fetched, and bytes of thumbnails stored.
    public package(set) var sourceBytes, outputBytes: Int?
    /// Processor time of the renderer and, for a video, of the program that makes its frames, in milliseconds, even if
    /// they failed; nil if none was used or it is not known: the worker was lost, or is of an older version.
    public package(set) var cpuMilliseconds: Int?
    /// The download of a running attempt at its worker's last heartbeat, which comes every 10 seconds.
    public package(set) var transfer: Transfer?

    package init(number: Int, worker: String, startedAt: Date, outcome: Outcome) {
        (self.number, self.worker, self.startedAt, self.outcome) = (number, worker, startedAt, outcome)
    }
}

/// The timings (milliseconds) and sizes (bytes) of one attempt; nil for a step that was not reached.
package struct AttemptTimings: Hashable, Sendable {
    package var throttledMilliseconds: Int?
    package var fetchMilliseconds: Int?
    package var queueMilliseconds: Int?
    package var renderMilliseconds: Int?
    package var storeMilliseconds: Int?
    /// Bytes fetched for the source and overlays together.
    package var sourceBytes: Int?
    package var outputBytes: Int?
    /// Processor time of the renderer and, for a video, of the program that makes its frames.
    package var cpuMilliseconds: Int?

    package init() {}
}

/// One change of a job's state. JSON form: `proto-json/job-change.schema.json`.
public struct JobChange: Hashable, Codable, Sendable {
    /// The change's position among all changes of the store, in commit order. A reader continues after the last one that
    /// it has seen.
    public let cursor: Int64
    /// The job's id.
    public let job: Int64
    /// The state that the job entered.
    public let state: JobState
    /// The time of the change.
    public let at: Date
    /// The job's queue; nil if the job has been removed.
    public let queue: String?
    /// The batches of the job's request and of those that joined it; nil if there are none.
    public let batches: [String]?

    package init(
        cursor: Int64,
        job: Int64,
        state: JobState,
        at: Date,
        queue: String? = nil,
        batches: [String]? = nil
    ) {
        (self.cursor, self.job, self.state, self.at, self.queue) = (cursor, job, state, at, queue)
        self.batches = batches
    }
}

/// How an operator stops a worker.
public enum WorkerStop: String, Codable, CaseIterable, Sendable {
    /// The worker claims nothing more and finishes its running jobs, however long that takes.
    case drain
    /// The worker releases its running jobs; their attempts are not counted.
    case now
}
