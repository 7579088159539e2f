internal import CameoStore
public import Foundation

/// Why a ``Client`` failed. Errors of `cameo:` URLs are ``CameoURLError``.
public enum CameoError: Error, Hashable, Sendable {
    /// A field of the request is invalid, such as `renditions[0].width`; an empty field means the request as a whole.
    case invalidRequest(field: String, reason: String)
    /// The store has no job with this number.
    case noSuchJob(Int64)
    /// The store has no queue of this name.
    case noSuchQueue(String)
    /// The store has no job that belongs to a batch of this name.
    case noSuchBatch(String)
    /// No worker with this id is registered in the store.
    case noSuchWorker(String)
    /// The job did not end within the timeout; it continues.
    case timedOut(jobID: Int64)
    /// Jobs of the batch did not end within the timeout; they continue.
    case batchTimedOut(String)
    /// The store cannot be opened, read or written.
    case storeUnavailable(reason: String)
    /// The store's disk is full.
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
            .unreachable, .denied, .leaseLost, .notFound, .damagedBlob, .unreadableBlob, .refused,
            .damagedDatabase, .failed, .unknownEngine, .needsFolder:
            self = .storeUnavailable(reason: error.description)
        }
    }

    init(_ error: InvalidRequest) {
        self = .invalidRequest(field: error.path, reason: error.reason)
    }

    /// Converts an error of a store call with untyped `throws`.
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
        case .batchTimedOut(let name): "jobs of the batch \(name) did not end within the timeout"
        case .timedOut(let id): "job \(id) did not end within the timeout"
        case .storeUnavailable(let reason), .storeFull(let reason): reason
        }
    }

    /// The description, for frameworks that show errors to people.
    public var errorDescription: String? { description }
}
