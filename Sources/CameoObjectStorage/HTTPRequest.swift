internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem
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
    /// All headers but those that libcurl adds: `Host`, `Accept-Encoding`, `Content-Length`, `Expect`.
    var headers: [(name: String, value: String)] = []
    /// The body of a PUT or a POST, which may be empty; nil for other methods.
    var body: Data?
    /// Where the body of a successful answer goes.
    var destination = BodyDestination()
    var limits = TransferLimits()
}

/// The answer to an ``HTTPRequest``.
struct HTTPResponse: Hashable, Sendable {
    /// The maximum size in bytes of a body that is read as text: an error, a confirmation.
    static let textLimit = 65_536

    var status = 0
    /// By names in lower case; of several headers of one name, the first.
    var headers: [String: String] = [:]
    /// The body, unless it went to a file.
    var body = Data()
    /// The number of bytes received of the body, decoded.
    var received = 0
    /// Whether the body was longer than its limit, and is cut.
    var isLong = false

    var isSuccess: Bool { (200..<300).contains(status) }

    /// The content coding; nil if the body came as it is.
    var coding: String? {
        headers["content-encoding"].flatMap { ["", "identity"].contains($0.lowercased()) ? nil : $0 }
    }
    /// Whether the body is a page for people, as of a proxy that wants a login.
    var isPage: Bool { headers["content-type"]?.lowercased().hasPrefix("text/html") == true }
}

/// Why there is no answer, or not all of one.
enum TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case curl(CurlError)
    /// The body was longer than its limit; the answer so far.
    case longBody(HTTPResponse)
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
struct BodyDestination: Sendable {
    /// Written from its beginning and in place of what it contains; nil for memory.
    var file: OpenFile?
    /// In bytes; a longer body ends the transfer.
    var limit = HTTPResponse.textLimit
    /// Whether a content coding, which no request asks for, is decoded.
    var decodes = true
    var needsNewConnection = false
}

/// Takes the body of one answer, on the thread of its transfer.
final class BodyReceiver: EasyHandleDelegate {
    private let destination: BodyDestination
    private let isCancelled: () -> Bool
    /// The answer's body so far. Status and headers are not in it.
    private(set) var response = HTTPResponse()
    /// Why the receiver has ended the transfer.
    private(set) var failure: TransferFailure?
    /// The size in bytes that the answer announces; 0 if that is another's than the body's: of a coded one.
    private var announced = 0

    init(_ destination: BodyDestination, isCancelled: @escaping () -> Bool) {
        (self.destination, self.isCancelled) = (destination, isCancelled)
    }

    /// Takes the next part of the body. The body of an error is text for memory, and is cut at its limit.
    func receive(_ bytes: UnsafeRawBufferPointer, from easy: EasyHandle) -> Reception {
        if response.received == 0, easy.responseHeaders("content-encoding").isEmpty { announced = easy.announcedLength }
        response.received += bytes.count
        guard (200..<300).contains(easy.status) else {
            response.body.append(contentsOf: bytes.prefix(HTTPResponse.textLimit - response.body.count))
            return response.received <= HTTPResponse.textLimit ? .goOn : .stop
        }
        guard max(response.received, announced) <= destination.limit else {
            response.isLong = true
            return .stop
        }
        guard let file = destination.file else {
            if response.body.isEmpty, announced > 0 { response.body.reserveCapacity(announced) }
            response.body.append(contentsOf: bytes)
            return .goOn
        }
        do throws(Errno) {
            try file.write(bytes)
            return .goOn
        } catch {
            failure = .file(error)
            return .stop
        }
    }

    func mayGoOn() -> Bool {
        guard failure == nil, isCancelled() else { return failure == nil }
        failure = .cancelled
        return false
    }
}

extension EasyHandle {
    /// Carries out a request, whose body is sent without a copy, and returns the answer, whatever its status. Redirects are not
    /// followed. `isCancelled` is asked before and during the transfer.
    func perform(_ request: HTTPRequest, isCancelled: @escaping () -> Bool) throws(TransferFailure) -> HTTPResponse {
        if isCancelled() { throw .cancelled }
        if let file = request.destination.file?.descriptor {
            guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else { throw .file(Errno()) }
        }
        let receiver = BodyReceiver(request.destination, isCancelled: isCancelled)
        delegate = receiver
        do throws(CurlError) {
            try configure(TransferOptions(for: request))
            try perform(sending: request.body)
        } catch {
            // An error whose text was cut is an answer all the same.
            let isCut = error.kind == .stopped && (status >= 300 || receiver.response.isLong)
            if receiver.failure == nil, !isCut { throw .curl(error) }
        }
        if let failure = receiver.failure { throw failure }
        var response = receiver.response
        response.status = status
        let headers = (responseHeaders(atMost: (.max, .max)) ?? []).map { ($0.name.lowercased(), $0.value) }
        response.headers = Dictionary(headers, uniquingKeysWith: { first, _ in first })
        if response.isLong { throw .longBody(response) }
        return response
    }
}

extension TransferOptions {
    fileprivate init(for request: HTTPRequest) {
        let bytes = request.body?.count ?? request.destination.limit
        let limits = request.limits
        self.init(url: request.url, connectTimeout: limits.connect, timeout: limits.total(for: bytes))
        method = request.method.rawValue
        (decodes, wantsIdentity) = (request.destination.decodes, true)
        headers = request.headers + (decodes ? [] : [("accept-encoding", "identity")])
        (probesConnection, needsNewConnection) = (true, request.destination.needsNewConnection)
        bufferBytes = 262_144
        lowSpeed = (limits.lowSpeed, limits.stall)
    }
}

extension BlockingThreads<EasyHandle> {
    /// Carries out a request; it ends early if the task is cancelled.
    func perform(_ request: HTTPRequest) async -> Result<HTTPResponse, TransferFailure> {
        let result = await run { handle, isCancelled in
            Result { () throws(TransferFailure) in try handle.perform(request, isCancelled: isCancelled) }
        }
        return result ?? .failure(.cancelled)
    }
}

/// The time limits of one transfer.
package struct TransferLimits: Hashable, Sendable {
    /// For the connection, including TLS.
    package var connect: Duration = .seconds(5)
    /// A transfer that moves fewer than ``lowSpeed`` bytes a second for so long has stalled, whichever side it waits for.
    /// libcurl takes the mean of some seconds, and so up to six seconds longer.
    package var stall: Duration = .seconds(15)
    package var lowSpeed = 1_024
    /// For the whole transfer, in addition to the time that its bytes take at ``slowest``.
    package var overhead: Duration = .seconds(30)
    /// The speed in bytes a second below which a large transfer is given up.
    package var slowest = 262_144

    /// The limit for a transfer of so many bytes.
    func total(for bytes: Int) -> Duration { overhead + .seconds(bytes / max(1, slowest)) }
}

extension CurlError {
    /// Whether the same request may succeed a moment later: the network or the server failed, not the configuration.
    var isPassing: Bool { [.timedOut, .notConnected, .network, .brokenOff, .notSentAgain].contains(kind) }
}
