package import CameoModel
internal import CameoSystem
package import Foundation

/// The right to settle one attempt of one job. Every later write must present it (invariant I1).
package struct Claim: Hashable, Sendable {
    package let jobID: Int64
    /// The claim token, new for every claim.
    package let token: String

    package init(jobID: Int64, token: String) {
        self.jobID = jobID
        self.token = token
    }
}

/// A job claimed by a worker.
package struct ClaimedJob: Hashable, Sendable {
    package let claim: Claim
    /// The request as enqueued: JSON text that the strict parser has accepted.
    package let request: String
    /// The request's refresh, or the more thorough one of a request that joined.
    package let refresh: Refresh
    package let queue: String
    /// Whether the queue is a background queue.
    package let isBackground: Bool
    /// The number of this attempt, from 1.
    package let attempt: Int
    package let maxAttempts: Int
    package let crashCount: Int
    /// The failure of the previous attempt, if it failed.
    package let previousFailure: JobFailure?
    /// The size of the picture in `upload`; nil if there is none.
    package let uploadedBytes: Int?
    /// The URI of the blob made from an upload, or of its name, which is the job's source.
    package let uploadedSource: String?
    package let createdAt: Date
    package let availableAt: Date
    /// The start of a fetch that begins now; one that begins later uses ``WorkerStore/beginFetch(_:of:)``.
    package let begun: FetchTicket

    package init(
        claim: Claim,
        request: String,
        refresh: Refresh,
        queue: String,
        isBackground: Bool = false,
        attempt: Int,
        maxAttempts: Int,
        crashCount: Int,
        previousFailure: JobFailure?,
        uploadedBytes: Int?,
        uploadedSource: String?,
        createdAt: Date,
        availableAt: Date,
        begun: FetchTicket
    ) {
        (self.claim, self.request, self.refresh, self.queue) = (claim, request, refresh, queue)
        (self.isBackground, self.attempt, self.maxAttempts) = (isBackground, attempt, maxAttempts)
        (self.crashCount, self.previousFailure, self.uploadedBytes) = (crashCount, previousFailure, uploadedBytes)
        (self.uploadedSource, self.createdAt, self.availableAt) = (uploadedSource, createdAt, availableAt)
        self.begun = begun
    }

    /// The request with the refresh of joined requests and the source that its upload became.
    ///
    /// - Throws: `InvalidRequest` for a field unknown to this version.
    package func parsedRequest() throws(InvalidRequest) -> ThumbnailRequest {
        var parsed = try ThumbnailRequest(accepted: request.utf8)
        parsed.refresh = refresh
        if let uploadedSource { parsed.source = uploadedSource }
        return parsed
    }
}

/// What a worker asks for when it claims jobs.
package struct ClaimRequest: Sendable {
    /// The maximum number of jobs.
    package var limit: Int
    /// The maximum number of jobs of background queues.
    package var background: Int
    package let kind: ClaimKind
    /// The queues to claim from; nil: all.
    package let queues: [String]?
    package let worker: String

    package init(limit: Int, background: Int, kind: ClaimKind, queues: [String]?, for worker: String) {
        (self.limit, self.background, self.kind) = (limit, background, kind)
        (self.queues, self.worker) = (queues, worker)
    }

    package var backgroundJobs: BackgroundJobs { background > 0 ? .included : .excluded }
}

/// Which jobs a claim may take.
package enum ClaimKind: Hashable, Sendable {
    /// Every job except poison jobs.
    case usual
    /// Only jobs that were running when a worker died, three times or more. Each runs alone.
    case poison

    /// The number of worker deaths after which a job counts as a poison job.
    package static let poisonAfterCrashes = 3
    /// The number of worker deaths after which a job is discarded as `worker.lost`.
    package static let discardAfterCrashes = 6
}

/// How long a worker may be silent before its jobs are rescued.
package enum Lease {
    /// On one machine, in milliseconds. This detects a process that hangs; a dead one is detected at once by its lock.
    package static let milliseconds = testable(30_000, "CAMEO_TEST_LEASE_MS")
    /// Among machines, in milliseconds. Nothing else tells that a worker is dead.
    package static let betweenMachines = testable(15_000, "CAMEO_TEST_LEASE_MS")
}

/// What a memory of blobs holds, and how often it had what was asked for.
public struct MemoryUse: Hashable, Sendable {
    /// The maximum size in bytes; 0 if nothing is held.
    public let capacity: Int
    /// The size of the blobs in memory, each with a small surcharge for its bookkeeping.
    public internal(set) var bytes = 0
    /// The number of blobs in memory.
    public internal(set) var blobs = 0
    /// Reads that were answered from memory.
    public internal(set) var hits = 0
    /// Reads that went to the store's files.
    public internal(set) var misses = 0
}

/// The progress of a scan of the store, in bytes; the total may grow while others write.
package typealias ByteProgress = (done: Int, total: Int)

/// What a worker tells of its work when it extends its lease.
package struct WorkerProgress: Sendable {
    package let transfers: [RunningTransfer]
    package let trouble: StatusReport.Worker.Trouble?

    package init(transfers: [RunningTransfer] = [], trouble: StatusReport.Worker.Trouble? = nil) {
        (self.transfers, self.trouble) = (transfers, trouble)
    }

    /// Both in JSON; nil for none.
    package func texts() throws -> (transfers: String?, trouble: String?) {
        (
            transfers.isEmpty ? nil : String(decoding: try WireFormat.encode(transfers), as: UTF8.self),
            try trouble.map { String(decoding: try WireFormat.encode($0), as: UTF8.self) }
        )
    }
}

/// How far the download of a claimed job has come.
package struct RunningTransfer: Hashable, Codable, Sendable {
    /// The claim's token.
    package let token: String
    package let transfer: JobAttempt.Transfer

    package init(token: String, transfer: JobAttempt.Transfer) {
        self.token = token
        self.transfer = transfer
    }
}
