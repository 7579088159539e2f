package import CameoModel
package import Foundation

/// The right to settle one attempt of one job. Every later write must show it (invariant I1).
package struct Claim: Hashable, Sendable {
    package let jobID: Int64
    /// Fresh for every claim.
    package let token: String

    package init(jobID: Int64, token: String) {
        self.jobID = jobID
        self.token = token
    }
}

/// A job in a worker's hands.
package struct ClaimedJob: Hashable, Sendable {
    package let claim: Claim
    /// JSON text that the strict parser has accepted, as it was enqueued.
    package let request: String
    /// The request's, or the more thorough one of a request that joined.
    package let refresh: Refresh
    package let queue: String
    /// 1 for the first.
    package let attempt: Int
    package let maxAttempts: Int
    package let crashCount: Int
    /// How the attempt before ended, if it failed.
    package let previousFailure: JobFailure?
    /// How many bytes of the picture still stand in `upload`; nil if none do.
    package let uploadedBytes: Int?
    /// The blob that an upload's bytes have become, which is the job's source.
    package let uploadedBlob: BlobDigest?
    package let createdAt: Date
    package let availableAt: Date
    /// Of a fetch that begins now: for one that begins later there is ``WorkerStore/beginFetch(_:of:)``.
    package let begun: BegunFetch

    package init(
        claim: Claim,
        request: String,
        refresh: Refresh,
        queue: String,
        attempt: Int,
        maxAttempts: Int,
        crashCount: Int,
        previousFailure: JobFailure?,
        uploadedBytes: Int?,
        uploadedBlob: BlobDigest?,
        createdAt: Date,
        availableAt: Date,
        begun: BegunFetch
    ) {
        self.claim = claim
        self.request = request
        self.refresh = refresh
        self.queue = queue
        self.attempt = attempt
        self.maxAttempts = maxAttempts
        self.crashCount = crashCount
        self.previousFailure = previousFailure
        self.uploadedBytes = uploadedBytes
        self.uploadedBlob = uploadedBlob
        self.createdAt = createdAt
        self.availableAt = availableAt
        self.begun = begun
    }

    /// What to do: the request, with what joined it and with the blob that its upload has become.
    ///
    /// - Throws: `InvalidRequest` for a field that this version does not know.
    package func parsedRequest() throws(InvalidRequest) -> ThumbnailRequest {
        var parsed = try ThumbnailRequest(parsing: request.utf8)
        parsed.refresh = refresh
        if let uploadedBlob { parsed.source = CameoURI.blob(uploadedBlob).text }
        return parsed
    }
}

/// Which jobs a claim may take.
package enum ClaimKind: Hashable, Sendable {
    /// Every job except poison jobs.
    case usual
    /// Only jobs that were running when a worker died, three times or more: each is to run with no other beside it.
    case poison

    /// The number of worker deaths after which a job counts as a poison job.
    package static let poisonAfterCrashes = 3
    /// Deaths of a worker after which its job is discarded as `worker.lost`.
    package static let discardAfterCrashes = 6
}
