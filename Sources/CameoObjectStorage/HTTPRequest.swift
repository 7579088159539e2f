internal import CCurl
internal import CameoHTTPTransfer
internal import CameoModel
internal import Foundation
internal import Glibc

/// An HTTP/1.1 request as it is sent.
struct HTTPRequest: Sendable {
    enum Method: String, Sendable {
        case delete = "DELETE"
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
    }

    var method: Method
    var url: String
    /// All headers but those that libcurl adds: `Host`, `Content-Length`, `Expect`.
    var headers: [(name: String, value: String)] = []
    /// The body of a PUT or a POST, which may be empty; nil for other methods.
    var body: Data?
    /// Where the body of a successful answer goes.
    var destination: BodyDestination = .memory(limit: HTTPResponse.textLimit)
    var limits = TransferLimits()
}

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
enum TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case curl(CurlError)
    /// The body was longer than its limit.
    case longBody
    /// The destination's file could not take the bytes.
    case file(Errno)
    /// The task was cancelled, or the threads were shut down.
    case cancelled

    var description: String {
        switch self {
        case .curl(let code): "\(code)"
        case .longBody: "the answer is longer than expected"
        case .file(let error): "\(error)"
        case .cancelled: "the call was cancelled"
        }
    }
}

/// Where the body of an answer goes.
enum BodyDestination: Sendable {
    /// Into memory; a longer body ends the transfer.
    case memory(limit: Int)
    /// Into a file, from its beginning and in place of what it contains; a longer body ends the transfer.
    case file(OpenFile, limit: Int)

    var limit: Int {
        switch self {
        case .memory(let limit), .file(_, let limit): limit
        }
    }
}

/// Takes the body of one answer, on the thread of its transfer.
final class BodyReceiver: EasyHandleDelegate {
    private let destination: BodyDestination
    private unowned let easy: EasyHandle
    private let isCancelled: () -> Bool
    private(set) var body = Data()
    /// The number of bytes received.
    private(set) var received = 0
    /// Why the receiver has ended the transfer.
    private(set) var failure: TransferFailure?

    /// - Throws: `Errno` if the destination's file cannot be emptied.
    init(_ destination: BodyDestination, from easy: EasyHandle, isCancelled: @escaping () -> Bool) throws(Errno) {
        self.destination = destination
        self.easy = easy
        self.isCancelled = isCancelled
        guard case .file(let file, _) = destination else { return }
        guard ftruncate(file.descriptor, 0) == 0, lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
    }

    /// Takes the next part of the body. The body of an error is text for memory, and is cut at its limit.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        guard (200..<300).contains(easy.number(CURLINFO_RESPONSE_CODE)) else {
            received += bytes.count
            body.append(contentsOf: bytes.prefix(HTTPResponse.textLimit - body.count))
            return received <= HTTPResponse.textLimit ? .goOn : .stop
        }
        // Negative if the answer announces no length.
        let announced = easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        guard received + bytes.count <= destination.limit, announced <= destination.limit else {
            failure = .longBody
            return .stop
        }
        if received == 0, announced > 0, case .memory = destination { body.reserveCapacity(announced) }
        received += bytes.count
        switch destination {
        case .memory: body.append(contentsOf: bytes)
        case .file(let file, _):
            do throws(Errno) {
                try file.write(bytes)
            } catch {
                failure = .file(error)
                return .stop
            }
        }
        return .goOn
    }

    func mayGoOn() -> Bool {
        guard failure == nil, isCancelled() else { return failure == nil }
        failure = .cancelled
        return false
    }
}
