internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem
internal import Foundation

/// A GET of one URL, or a POST to it, carried out by a ``TransferThread``.
struct TransferRequest: Sendable {
    let url: HTTPURL
    /// Valid header lines (RFC 9110, section 5.5), without those that libcurl derives from options, such as `User-Agent`.
    let headers: HTTPFields
    /// Checks the address of each connection; nil allows any.
    let addressGuard: AddressGuard?
    /// The rest of the total time.
    var budget: Duration
    let purpose: FetchPurpose
    /// What redirects have set so far. Only those whose domain, path and scheme fit are sent (RFC 6265).
    var cookies: [String] = []
    /// Whether content codings are decoded.
    var decodes = true
    /// What a POST sends; nil for a GET.
    var body: Data?
    /// The download whose rest is requested.
    var resumption: Resumption?
    /// The bytes of a response that are requested, instead of the whole.
    var part: (bytes: Range<Int>, response: PartialResponse)?
    /// Whether the transfer ends after the first bytes if they are a large video's whose parts can be requested.
    var stopsAtVideo = false
}

extension TransferOptions {
    init(for request: TransferRequest, within limits: FetchConfiguration) {
        self.init(url: request.url.text, connectTimeout: limits.connectTimeout, timeout: request.budget)
        // libcurl drops the question mark of an empty query. A proxy that does not tunnel is asked for the whole URL.
        if request.url.text.hasSuffix("?") {
            let isTunnelled = limits.proxy?.hasPrefix("socks") ?? true || request.url.origin.scheme == "https"
            requestTarget = isTunnelled ? request.url.target : request.url.text
        }
        let own = request.headers.values(of: "Cookie").joined(separator: "; ")
        let lines = request.headers.lines.filter { own.isEmpty || $0.name.lowercased() != "cookie" }
        headers = lines.map { ($0.name, $0.value) }
        (cookies, ownCookies) = (request.cookies, own.isEmpty ? nil : own)
        body = request.body
        decodes = request.decodes
        mayUseHTTP2 = true
        userAgent = limits.userAgent
        proxy = limits.proxy
        maximumBytes = limits.maximumBytes
        lowSpeed = (limits.lowSpeedBytesPerSecond, limits.lowSpeedTime)
    }
}

/// The raw result of a transfer. ``HTTPAnswer`` interprets it.
struct TransferResult: Sendable {
    /// Why the client aborted the transfer.
    enum Stop: Sendable {
        /// The body exceeded the size limit.
        case tooLarge
        /// The body is not needed, and enough of it was read.
        case unneededBody
        /// The rest of a download had more bytes than were missing.
        case longerRest
        /// The body is a large video, of which parts can be requested.
        case video
        /// The memory file could not store the bytes.
        case memory(Errno)
    }

    /// Nil if the transfer succeeded.
    var error: CurlError?
    /// The head of the final response; nil if there was none.
    var head: CacheableResponse?
    /// The `Content-Length`, which counts encoded bytes; nil if there was none.
    var announcedBytes: Int?
    /// Whether there are several different lengths: the end of the body is then ambiguous (RFC 9112, section 6.3).
    var announcesSeveralLengths = false
    /// The body of a complete 200, or of a download that was resumed to its end; nil if it was empty.
    var body: Download.Body?
    /// What has arrived of a body whose transfer broke off.
    var begun: Download.Body?
    /// Whether the response is the rest of the download that was to be resumed, or the part that was requested.
    var isRest = false
    var stop: Stop?
    /// The cookies of the request and of the response (CURLINFO_COOKIELIST).
    var cookies: [String] = []
    /// The addresses that the address guard refused, and those that it allowed.
    var refusals: [AddressGuard.Verdict] = []
    var attempted: [IPAddress] = []
    /// Why this machine could open no socket.
    var unopenedSocket: Errno?
    /// The peer's address, also of a reused connection; nil without a connection.
    var address: IPAddress?
    /// Whether the connection, including TLS if required, was established.
    var wasConnected = false
    var elapsed: Duration = .zero

    /// Whether the server sent a part other than the one that was requested, or said that there is none (416).
    var refusesRest: Bool {
        if case .longerRest = stop { return true }
        return head.map { $0.status == 416 || ($0.status == 206 && !isRest) } ?? false
    }
}
