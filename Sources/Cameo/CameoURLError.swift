internal import CameoStore
public import Foundation

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
            .unreachable, .denied, .leaseLost, .noSuchJob, .noSuch, .unreadableBlob, .invalidBackupTarget, .refused,
            .damagedDatabase, .failed, .unknownEngine, .needsFolder:
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
