internal import CameoModel
internal import Foundation

/// The answer to an ``HTTPRequest``.
struct HTTPResponse: Sendable {
    /// The maximum size in bytes of a body that is read as text: an error, a confirmation.
    static let textLimit = 65_536

    var status: Int
    /// By names in lower case; of several headers of one name, the first.
    var headers: [String: String] = [:]
    /// The body, unless it went to a file.
    var body = Data()
    /// The number of bytes received of the body.
    var received = 0

    var isSuccess: Bool { (200..<300).contains(status) }
}

/// Why there is no answer, or not all of one.
enum TransferFailure: Error, Hashable, Sendable {
    case curl(CurlCode)
    /// The body was longer than its limit.
    case longBody
    /// The destination's file could not take the bytes.
    case file(Errno)
    /// The task was cancelled, or the threads were shut down.
    case cancelled
}
