internal import CCurl
internal import CameoModel
internal import Foundation

/// Sole owner of a libcurl easy handle, which carries out one transfer after another and keeps the connection between
/// them. It belongs to one thread, which it blocks.
final class CurlHandle {
    private let pointer: UnsafeMutableRawPointer
    private let certificateAuthorities: String?

    /// - Parameter certificateAuthorities: a file of trusted certificates (PEM) in place of the system's.
    init(certificateAuthorities: String?) {
        guard let pointer = curl_easy_init() else { preconditionFailure("no memory for a handle of libcurl") }
        self.pointer = pointer
        self.certificateAuthorities = certificateAuthorities
    }

    deinit { curl_easy_cleanup(pointer) }

    /// Carries out a request. Redirects are not followed.
    ///
    /// - Parameters:
    ///   - request: its body is sent without a copy.
    ///   - isCancelled: asked before and during the transfer.
    /// - Returns: the answer, whatever its status.
    /// - Throws: ``TransferFailure``
    func perform(_ request: HTTPRequest, isCancelled: @escaping () -> Bool) throws(TransferFailure) -> HTTPResponse {
        if isCancelled() { throw .cancelled }
        let receiver: BodyReceiver
        do throws(Errno) {
            receiver = try BodyReceiver(request.destination, isCancelled: isCancelled)
        } catch {
            throw .file(error)
        }
        let code: CURLcode
        do throws(CurlCode) {
            let (context, headers) = (TransferContext(receiver, of: pointer), try HeaderList(request.headers))
            // Keeps connections and resolved names.
            curl_easy_reset(pointer)
            try configure(request, headers)
            try install(context)
            code = try send(request.body)
            // libcurl has only their addresses, and uses them during the transfer alone.
            withExtendedLifetime((context, headers)) {}
        } catch {
            throw .curl(error)
        }
        if let failure = receiver.failure { throw failure }
        var response = HTTPResponse(status: status, body: receiver.body, received: receiver.received)
        // An error whose text was cut is an answer all the same.
        let isCutError = code == CURLE_WRITE_ERROR && response.status >= 300
        guard code == CURLE_OK || isCutError else { throw .curl(CurlCode(code)) }
        response.headers = responseHeaders
        return response
    }

    // MARK: - The request

    private func configure(_ request: HTTPRequest, _ headers: HeaderList) throws(CurlCode) {
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_HTTP_VERSION, cameo_curl_http_1_1)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_NETRC, cameo_curl_netrc_ignored)
        // An empty string also keeps the environment's proxies out.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_BUFFERSIZE, 262_144)
        if let certificateAuthorities { try set(CURLOPT_CAINFO, certificateAuthorities) }
        try check(cameo_curl_set_list(pointer, CURLOPT_HTTPHEADER, headers.pointer))
        if request.method == .head {
            try set(CURLOPT_NOBODY, 1)
        } else {
            try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        let bytes = request.body?.count ?? request.destination.limit
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.limits.connect.milliseconds))
        try set(CURLOPT_TIMEOUT_MS, max(1, request.limits.total(for: bytes).milliseconds))
        try set(CURLOPT_LOW_SPEED_LIMIT, request.limits.lowSpeed)
        try set(CURLOPT_LOW_SPEED_TIME, max(1, (request.limits.stall.milliseconds + 999) / 1_000))
    }

    private func install(_ context: TransferContext) throws(CurlCode) {
        let own = Unmanaged.passUnretained(context).toOpaque()
        try check(cameo_curl_set_write_function(pointer, TransferContext.write))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_WRITEDATA, own))
        try check(cameo_curl_set_progress_function(pointer, TransferContext.progress))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_XFERINFODATA, own))
        try set(CURLOPT_NOPROGRESS, 0)
        try check(cameo_curl_set_open_socket_function(pointer, TransferContext.openSocket))
    }

    /// Blocks until the transfer has ended.
    private func send(_ body: Data?) throws(CurlCode) -> CURLcode {
        guard let body else { return curl_easy_perform(pointer) }
        try check(cameo_curl_set_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        // Data.withUnsafeBytes rethrows untyped errors only, so the closure returns codes as values. An empty body has to
        // have an address too: without one, libcurl would ask a callback for it.
        return body.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { empty in
                let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(empty.baseAddress))
                let code = cameo_curl_set_pointer(pointer, CURLOPT_POSTFIELDS, start)
                return code == CURLE_OK ? curl_easy_perform(pointer) : code
            }
        }
    }

    private func set(_ option: CURLoption, _ value: Int) throws(CurlCode) {
        try check(cameo_curl_set_long(pointer, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(CurlCode) {
        try check(cameo_curl_set_string(pointer, option, value))
    }

    private func check(_ code: CURLcode) throws(CurlCode) {
        guard code == CURLE_OK else { throw CurlCode(code) }
    }

    // MARK: - The answer

    private var status: Int {
        var status = 0
        return cameo_curl_get_long(pointer, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0
    }

    private var responseHeaders: [String: String] {
        var headers: [String: String] = [:]
        var previous: UnsafeMutablePointer<curl_header>?
        while let header = curl_easy_nextheader(pointer, cameo_curl_header_of_response, -1, previous) {
            previous = header
            let name = String(cString: header.pointee.name).lowercased()
            guard headers[name] == nil else { continue }
            headers[name] = String(cString: header.pointee.value).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return headers
    }
}
