package import Foundation

/// The message that a hook gets when a job has ended. JSON form: `proto-json/hook-delivery.schema.json`.
package struct HookDelivery: Hashable, Codable, Sendable {
    /// The same each time that the message is delivered, and never that of another message.
    package let id: String
    package let hook: String
    /// The job that ended.
    package let job: Int64
    /// The jobs that it superseded and whose requests named the hook; nil if there are none.
    package let supersededJobs: [Int64]?
    /// How the job ended: completed, discarded or cancelled.
    package let state: JobState
    package let endedAt: Date
    package let queue: String
    package let batch: String?
    /// The source as requested, without a password; nil for a picture that is in the request itself, and if the request is invalid.
    package let source: String?
    /// The requested thumbnails, with their details if they exist at the time of the delivery.
    package let thumbnails: [RequestedThumbnail]
    /// Why the job was discarded, or its last failure before it was cancelled.
    package let failure: JobFailure?
    package let metadata: [String: JSONValue]?

    /// `job` is the job as it is now, which may have been retried since; `end` says how it ended.
    package init(
        id: String,
        hook: String,
        job: Job,
        supersededJobs: [Int64],
        end: (state: JobState, at: Date, failure: JobFailure?)
    ) {
        self.id = id
        self.hook = hook
        self.job = job.id
        self.supersededJobs = supersededJobs.isEmpty ? nil : supersededJobs
        state = end.state
        endedAt = end.at
        queue = job.queue
        batch = job.batch
        source = job.source.flatMap { InlinePicture.isIn($0) ? nil : SourceName.withoutPassword($0) }
        thumbnails = job.thumbnails
        failure = end.failure
        metadata = job.metadata.isEmpty ? nil : job.metadata
    }
}
