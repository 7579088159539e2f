internal import CCurl
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Glibc

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

/// What libcurl's callbacks get as their user data, unretained: they are called during one transfer, whose caller keeps it.
final class TransferContext {
    private let receiver: BodyReceiver
    private let easy: UnsafeMutableRawPointer

    init(_ receiver: BodyReceiver, of easy: UnsafeMutableRawPointer) {
        self.receiver = receiver
        self.easy = easy
    }

    static let write: curl_write_callback = { bytes, size, count, own in
        guard let own else { return 0 }
        let context = Unmanaged<TransferContext>.fromOpaque(own).takeUnretainedValue()
        let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
        // Any other number tells libcurl to stop.
        return context.receiver.receive(bytes, status: context.status, announced: context.announced) ? bytes.count : 0
    }

    static let progress: curl_xferinfo_callback = { own, _, _, _, _ in
        guard let own else { return 1 }
        return Unmanaged<TransferContext>.fromOpaque(own).takeUnretainedValue().receiver.mayGoOn() ? 0 : 1
    }

    /// Sets close-on-exec, which libcurl's own function does not: a worker spawns renderers.
    static let openSocket: curl_opensocket_callback = { _, _, address in
        guard let address else { return CURL_SOCKET_BAD }
        let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.pointee.family, address.pointee.socktype | closeOnExec, address.pointee.protocol)
    }

    private var status: Int {
        var status = 0
        return cameo_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0
    }

    /// Negative if the answer announces no length.
    private var announced: Int {
        var length: curl_off_t = -1
        return cameo_curl_get_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length) == CURLE_OK ? Int(length) : -1
    }
}

/// The time limits of one transfer.
package struct TransferLimits: Hashable, Sendable {
    /// For the connection, including TLS.
    package var connect: Duration
    /// A transfer that moves fewer than ``lowSpeed`` bytes a second for so long has stalled, whichever side it waits for.
    /// libcurl takes the mean of some seconds, and so up to six seconds longer.
    package var stall: Duration
    package var lowSpeed = 1_024
    /// For the whole transfer, in addition to the time that its bytes take at ``slowest``.
    package var overhead: Duration
    /// The speed in bytes a second below which a large transfer is given up.
    package var slowest = 262_144

    package init(
        connect: Duration = .seconds(5),
        stall: Duration = .seconds(15),
        overhead: Duration = .seconds(30)
    ) {
        (self.connect, self.stall, self.overhead) = (connect, stall, overhead)
    }

    /// The limit for a transfer of so many bytes.
    func total(for bytes: Int) -> Duration { overhead + .seconds(bytes / max(1, slowest)) }
}

/// Sole owner of a list of header lines.
final class HeaderList {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    /// - Throws: CURLE_OUT_OF_MEMORY
    init(_ headers: [(name: String, value: String)]) throws(CurlCode) {
        for header in headers {
            // The form that libcurl asks for if there is no value (CURLOPT_HTTPHEADER).
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            guard let longer = curl_slist_append(pointer, line) else { throw CurlCode(CURLE_OUT_OF_MEMORY) }
            pointer = longer
        }
    }

    deinit { curl_slist_free_all(pointer) }
}

/// A result code of libcurl's easy interface, with its text.
struct CurlCode: Error, Hashable, Sendable, CustomStringConvertible {
    let code: CURLcode

    init(_ code: CURLcode) {
        self.code = code
    }

    var description: String { String(cString: curl_easy_strerror(code)) }

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

/// libcurl as a whole.
enum CurlLibrary {
    /// The first version with CURLOPT_PROTOCOLS_STR.
    private static let oldest: UInt32 = 0x07_55_00

    private static let started = curl_global_init(cameo_curl_global_default)

    /// Other users of the library in this process start it too, which only a thread-safe one allows at any time.
    static func start() throws(StoreError) {
        guard let version = curl_version_info(cameo_curl_version_now)?.pointee, version.version_num >= oldest,
            version.features & cameo_curl_is_thread_safe != 0
        else { throw .failed("libcurl is too old: a thread-safe 7.85 or later is needed") }
        guard started == CURLE_OK else { throw .failed("libcurl does not start: \(CurlCode(started))") }
    }
}
