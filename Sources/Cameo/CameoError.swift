internal import CameoStore
public import Foundation

/// Why a ``Client`` could not do what it was asked for. What goes wrong with a `cameo:` URL is a ``CameoURLError``.
public enum CameoError: Error, Hashable, Sendable {
    /// Which field of the request (`renditions[0].width`; empty: the request as a whole), and what is wrong with it.
    case invalidRequest(field: String, reason: String)
    case noSuchJob(Int64)
    case noSuchQueue(String)
    /// No job that the store still has belongs to a batch of this name.
    case noSuchBatch(String)
    /// No worker of this id has entered the store, or it has left.
    case noSuchWorker(String)
    /// The job had not ended in the time that was given; it goes on.
    case timedOut(jobID: Int64)
    /// Jobs of the batch had not ended in the time that was given; they go on.
    case batchTimedOut(String)
    /// The store cannot be opened, read or written.
    case storeUnavailable(reason: String)
    /// No space is left on the store's disk.
    case storeFull(reason: String)

    init(_ error: StoreError) {
        switch error {
        case .noSuchJob(let id): self = .noSuchJob(id)
        case .noSuch(.queue, let name): self = .noSuchQueue(name)
        case .noSuch(.batch, let name): self = .noSuchBatch(name)
        case .noSuch(.worker, let id): self = .noSuchWorker(id)
        case .invalidBackupTarget(_, let reason): self = .invalidRequest(field: "path", reason: reason)
        case .full: self = .storeFull(reason: error.description)
        case .missing, .cannotOpen, .notAStore, .newerSchema, .olderSchema, .networkFileSystem, .readOnly, .busy,
            .leaseLost, .notFound, .damagedBlob, .unreadableBlob, .refused,
            .damagedDatabase, .failed, .unknownEngine:
            self = .storeUnavailable(reason: error.description)
        }
    }

    init(_ error: InvalidRequest) {
        self = .invalidRequest(field: error.path, reason: error.reason)
    }

    /// Of what the store's calls throw that do not say what they throw.
    init(erased error: any Error) {
        switch error {
        case let error as StoreError: self.init(error)
        case let error as InvalidRequest: self.init(error)
        default: self = .storeUnavailable(reason: String(describing: error))
        }
    }
}

extension CameoError: CustomStringConvertible, LocalizedError {
    /// One sentence for a person, without a full stop.
    public var description: String {
        switch self {
        case .invalidRequest(let field, let reason): field.isEmpty ? reason : "\(field): \(reason)"
        case .noSuchJob(let id): "there is no job \(id)"
        case .noSuchQueue(let name): "there is no queue \(name)"
        case .noSuchBatch(let name): "there is no batch \(name)"
        case .noSuchWorker(let id): "there is no worker \(id)"
        case .batchTimedOut(let name): "jobs of the batch \(name) have not ended in the time that was given"
        case .timedOut(let id): "job \(id) has not ended in the time that was given"
        case .storeUnavailable(let reason), .storeFull(let reason): reason
        }
    }

    /// The description, for frameworks that show errors to people.
    public var errorDescription: String? { description }
}
