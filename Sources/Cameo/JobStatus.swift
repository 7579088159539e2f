internal import CameoModel
public import Foundation

/// A job at one moment.
public struct JobStatus: Hashable, Sendable, Identifiable {
    /// Why an attempt did not make its thumbnails.
    public struct Failure: Hashable, Sendable {
        /// A stable name, as `source.notFound`; `proto-json/README.md` lists them.
        public let code: String
        /// One sentence for a person.
        public let message: String
    }

    /// The job's number in its store.
    public let id: Int64
    /// At the moment of the look.
    public let state: JobState
    /// As requested.
    public let queue: String
    /// As requested.
    public let batch: String?
    /// As requested; nil for a row of another program's that has none.
    public let source: String?
    /// Attempts charged so far.
    public let attempt: Int
    /// After so many, a failure is final.
    public let maxAttempts: Int
    /// When its request was accepted.
    public let createdAt: Date
    /// Nil until the job ends.
    public let finalizedAt: Date?
    /// The last one, also of a job that waits for its next attempt.
    public let failure: Failure?
    /// Of a cancelled job: the one that took its place, since it was waiting for the same thumbnails.
    public let supersededBy: Int64?
    /// In the order of the request's renditions.
    public let thumbnails: [Thumbnail]

    init(_ job: CameoModel.Job) throws(CameoError) {
        id = job.id
        state = JobState(job.state)
        (queue, batch, source) = (job.queue, job.batch, job.source)
        attempt = job.attempt
        maxAttempts = job.maxAttempts
        createdAt = job.createdAt
        finalizedAt = job.finalizedAt
        failure = job.failure.map { Failure(code: $0.code.rawValue, message: $0.message) }
        supersededBy = job.supersededBy
        thumbnails = try Thumbnail.all(job.thumbnails)
    }
}
