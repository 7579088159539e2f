package import CameoModel
package import Foundation

/// A worker's registration, visible to others.
package struct WorkerDescription: Hashable, Sendable {
    /// See ``isID(_:)``.
    package let id: String
    package let host: String
    package let pid: Int
    package let version: String
    /// The number of jobs that it runs at once.
    package let concurrency: Int
    /// The number of renderer processes that it keeps ready.
    package let renderers: Int
    /// The version of the pictures that its renderers make; nil: unknown.
    package let rendererVersion: String?
    /// When it takes jobs of background queues; nil: always.
    package let quietHours: QuietHours?
    /// The queues that it takes jobs of; nil: all.
    package let queues: [String]?
    /// What its host cannot do.
    package let lacks: [HostLack]

    package init(
        id: String,
        host: String,
        pid: Int,
        version: String,
        concurrency: Int,
        renderers: Int = 0,
        rendererVersion: String? = nil,
        quietHours: QuietHours? = nil,
        queues: [String]? = nil,
        lacks: [HostLack] = []
    ) {
        (self.id, self.host, self.pid, self.version, self.concurrency) = (id, host, pid, version, concurrency)
        (self.renderers, self.rendererVersion, self.quietHours) = (renderers, rendererVersion, quietHours)
        (self.queues, self.lacks) = (queues, lacks)
    }

    /// ``QuietTimes`` for the worker's row.
    package func quietTimes(at now: Date) throws -> String? {
        try quietHours.map { String(decoding: try WireFormat.encode(QuietTimes($0, now: now)), as: UTF8.self) }
    }

    /// Whether the text can name a worker and its lock file: 1 to 64 characters of A-Z a-z 0-9 _ - . that do not begin
    /// with a full stop.
    package static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.hasPrefix(".") && text.utf8.allSatisfy(idBytes.contains)
    }

    private static let idBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.".utf8)
}

/// The information that a worker polls several times a second.
package struct WorkerSweep: Sendable {
    /// How the worker was asked to stop; nil if it was not.
    package let stop: WorkerStop?
    /// Why the worker must start nothing more: a program of a newer version has migrated the store.
    package let refusal: StoreError?
    /// The claims that the worker still holds; its other running jobs were cancelled or rescued.
    package let claims: Set<Claim>
    /// The next time at which a job becomes due without any commit; nil: none is scheduled.
    package let due: Date?
    /// Whether a worker may have died or fallen silent, so that ``WorkerStore/rescueExpired(except:)`` is worth
    /// calling.
    package let hasLostWorkers: Bool
    /// Whether a picture in `upload` was not read yet (``WorkerStore/readUploads()``).
    package let hasUploads: Bool

    package init(
        stop: WorkerStop?,
        refusal: StoreError?,
        claims: Set<Claim>,
        due: Date?,
        hasLostWorkers: Bool,
        hasUploads: Bool
    ) {
        (self.stop, self.refusal, self.claims, self.due) = (stop, refusal, claims, due)
        (self.hasLostWorkers, self.hasUploads) = (hasLostWorkers, hasUploads)
    }

    package var tokens: Set<String> { Set(claims.map(\.token)) }
}

/// A job that was discarded because its workers died, or refused at acceptance.
package struct LostJob: Hashable, Sendable {
    package let id: Int64
    package let source: String?
    package let queue: String
    package let attempt: Int
    package let failure: JobFailure

    package init(id: Int64, source: String?, queue: String, attempt: Int, failure: JobFailure) {
        (self.id, self.source, self.queue, self.attempt, self.failure) = (id, source, queue, attempt, failure)
    }
}

package struct RescueReport: Hashable, Sendable {
    /// Jobs that are available again.
    package var rescued = 0
    /// Jobs discarded as `worker.lost` after too many worker deaths.
    package var discarded: [LostJob] = []
    /// The ids of the dead or silent workers.
    package var workers: [String] = []

    package init() {}
}
