internal import CCurl
internal import CameoHTTPTransfer
internal import CameoModel
internal import Foundation
internal import Glibc

/// Carries out one transfer after another and keeps the connection between them. It belongs to one thread, which it blocks.
final class CurlHandle {
    private let easy: EasyHandle
    private let certificateAuthorities: String?

    /// - Parameter certificateAuthorities: a file of trusted certificates (PEM) in place of the system's.
    init(certificateAuthorities: String?) {
        guard let easy = try? EasyHandle() else { preconditionFailure("no memory for a handle of libcurl") }
        self.easy = easy
        self.certificateAuthorities = certificateAuthorities
    }

    /// Carries out a request, whose body is sent without a copy, and returns the answer, whatever its status. Redirects are not
    /// followed. `isCancelled` is asked before and during the transfer.
    func perform(_ request: HTTPRequest, isCancelled: @escaping () -> Bool) throws(TransferFailure) -> HTTPResponse {
        if isCancelled() { throw .cancelled }
        let receiver: BodyReceiver
        do throws(Errno) {
            receiver = try BodyReceiver(request.destination, from: easy, isCancelled: isCancelled)
        } catch {
            throw .file(error)
        }
        let code: CURLcode
        do throws(CurlError) {
            easy.delegate = receiver
            try easy.reset()
            try configure(request)
            code = try easy.perform(sending: request.body)
        } catch {
            throw .curl(error)
        }
        if let failure = receiver.failure { throw failure }
        let status = easy.number(CURLINFO_RESPONSE_CODE)
        // An error whose text was cut is an answer all the same.
        let isCutError = code == CURLE_WRITE_ERROR && status >= 300
        guard code == CURLE_OK || isCutError else { throw .curl(CurlError(code)) }
        let headers = (easy.responseHeaders(atMost: (.max, .max)) ?? []).map { ($0.name.lowercased(), $0.value) }
        return HTTPResponse(
            status: status,
            headers: Dictionary(headers, uniquingKeysWith: { first, _ in first }),
            body: receiver.body,
            received: receiver.received
        )
    }

    private func configure(_ request: HTTPRequest) throws(CurlError) {
        try easy.set(CURLOPT_URL, request.url)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_HTTP_VERSION, cameo_curl_http_1_1)
        try easy.set(CURLOPT_HTTP09_ALLOWED, 0)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.set(CURLOPT_NETRC, cameo_curl_netrc_ignored)
        // An empty string also keeps the environment's proxies out.
        try easy.set(CURLOPT_PROXY, "")
        try easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        try easy.set(CURLOPT_BUFFERSIZE, 262_144)
        if let certificateAuthorities { try easy.set(CURLOPT_CAINFO, certificateAuthorities) }
        try easy.setHeaders(request.headers)
        if request.method == .head {
            try easy.set(CURLOPT_NOBODY, 1)
        } else {
            try easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        let bytes = request.body?.count ?? request.destination.limit
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.limits.connect.milliseconds))
        try easy.set(CURLOPT_TIMEOUT_MS, max(1, request.limits.total(for: bytes).milliseconds))
        try easy.set(CURLOPT_LOW_SPEED_LIMIT, request.limits.lowSpeed)
        try easy.set(CURLOPT_LOW_SPEED_TIME, max(1, (request.limits.stall.milliseconds + 999) / 1_000))
        try easy.watch()
    }
}

extension BlockingThreads<CurlHandle> {
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
    var isPassing: Bool {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
            CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
            true
        default: false
        }
    }
}
