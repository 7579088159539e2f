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
        case .noSuch(.batch, let name), .batchWithoutJobs(let name): self = .noSuchBatch(name)
        case .noSuch(.worker, let id): self = .noSuchWorker(id)
        case .invalidBackupTarget(_, let reason): self = .invalidRequest(field: "path", reason: reason)
        case .full: self = .storeFull(reason: error.description)
        case .missing, .cannotOpen, .notAStore, .newerSchema, .olderSchema, .networkFileSystem, .readOnly, .busy,
            .cancelled, .unreachable, .uncertain, .denied, .leaseLost, .notFound, .damagedBlob, .unreadableBlob,
            .refused, .noSuch(.attachment, _), .damagedDatabase, .unremoved, .failed, .unknownEngine, .needsFolder:
            self = .storeUnavailable(reason: error.description)
        }
    }

    /// Converts an error of a store call with untyped `throws`.
    init(erased error: any Error) {
        switch error {
        case let error as StoreError: self.init(error)
        case let error as InvalidRequest: self = .invalidRequest(field: error.path, reason: error.reason)
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

/// Why a `cameo:` URL could not be loaded. A `URLSession` with Cameo's protocol throws these errors unchanged:
/// `catch let error as CameoURLError`.
public enum CameoURLError: Error, Hashable, Sendable {
    /// A percent-escape is malformed, or the decoded bytes are not UTF-8.
    case incorrectlyEncodedURL(String)
    /// The URL is well encoded but cannot name anything: an unknown kind, a malformed id or an unknown query.
    case unsupportedURL(String, reason: String)
    /// Nothing has this name (yet), or its blob has been removed.
    case noDataAvailable(String)
    /// The stored bytes are missing or do not match their digest. Such bytes are never served; enqueueing the thumbnail's
    /// request again makes it anew.
    case damagedData(String)
    /// The protocol has no store, or the store cannot be read.
    case storeUnavailable(reason: String)
    /// The bytes are more than a load holds in memory (``Client/maximumDataBytes``). ``Client/write(_:to:)`` writes them to a
    /// file piece by piece.
    case tooLarge(String, bytes: Int)
    /// Download tasks are not supported: on Linux, Foundation expects a file that only its own protocols create. Load the
    /// data and write it.
    case downloadTask(String)

    init(_ error: StoreError, url: String) {
        switch error {
        case .notFound: self = .noDataAvailable(url)
        case .damagedBlob: self = .damagedData(url)
        case .missing, .cannotOpen, .notAStore, .newerSchema, .olderSchema, .networkFileSystem, .readOnly, .full, .busy,
            .cancelled, .unreachable, .uncertain, .denied, .leaseLost, .noSuchJob, .noSuch, .batchWithoutJobs,
            .unreadableBlob,
            .invalidBackupTarget, .refused,
            .damagedDatabase, .unremoved, .failed, .unknownEngine, .needsFolder:
            self = .storeUnavailable(reason: error.description)
        }
    }
}

extension CameoURLError: CustomStringConvertible, LocalizedError, CustomNSError {
    /// One sentence for a person, without a full stop.
    public var description: String {
        switch self {
        case .incorrectlyEncodedURL(let url): "the percent-encoding of \(url) is malformed or not UTF-8"
        case .unsupportedURL(let url, let reason): "\(url) is not a URL of Cameo's: \(reason)"
        case .noDataAvailable(let url): "there is nothing at \(url)"
        case .damagedData(let url): "the stored bytes of \(url) are damaged or gone"
        case .storeUnavailable(let reason): reason
        case .tooLarge(let url, let bytes):
            "\(url) has \(bytes) bytes, more than the \(Client.maximumDataBytes) that a load holds in memory; write it to a file"
        case .downloadTask(let url): "\(url) cannot be loaded by a download task; load its data and write that"
        }
    }

    /// The description, for frameworks that show errors to people.
    public var errorDescription: String? { description }

    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "CameoURLError" }

    /// The numbers of the errors. They never change.
    public var errorCode: Int {
        switch self {
        case .incorrectlyEncodedURL: 1
        case .unsupportedURL: 2
        case .noDataAvailable: 3
        case .damagedData: 4
        case .storeUnavailable: 5
        case .downloadTask: 6
        case .tooLarge: 7
        }
    }

    /// Contains the description, which `NSError` shows.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
