internal import CCurl
internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel
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

extension EasyHandle {
    /// Sets all options for a request. libcurl's other defaults are safe: certificates are verified; there are no
    /// alternative services and no server push.
    func configure(for request: TransferRequest, within limits: FetchConfiguration) throws(CurlError) {
        try set(CURLOPT_URL, request.url.text)
        // libcurl drops the question mark of an empty query. A proxy that does not tunnel is asked for the whole URL.
        if request.url.text.hasSuffix("?") {
            let isTunnelled = limits.proxy?.hasPrefix("socks") ?? true || request.url.origin.scheme == "https"
            try set(CURLOPT_REQUEST_TARGET, isTunnelled ? request.url.target : request.url.text)
        }
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try setConnection(limits)
        try setLimits(limits, budget: request.budget)
        if let body = request.body { try setBody(body) }
        // Redirects are followed by the fetcher's own rule: libcurl would send the request's headers on to any host.
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NETRC, cameo_curl_netrc_ignored)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_HTTP_VERSION, cameo_curl_http_2_over_tls)
        if request.decodes { try set(CURLOPT_ACCEPT_ENCODING, "") }  // all that the library can decode
        try set(CURLOPT_USERAGENT, limits.userAgent)
        let own = request.headers.values(of: "Cookie").joined(separator: "; ")
        try setCookies(request.cookies, own: own)
        let lines = request.headers.lines.filter { own.isEmpty || $0.name.lowercased() != "cookie" }
        try setHeaders(lines.map { ($0.name, $0.value) })
    }

    private func setConnection(_ limits: FetchConfiguration) throws(CurlError) {
        // Timeouts by signals belong to single-threaded programs; the transfer thread blocks SIGPIPE itself.
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it, ending a transfer whose name is being looked up waits for the look-up, and with it every other
        // transfer of the thread (https://github.com/curl/curl/issues/4852); the resolver's thread cleans up.
        try setIfKnown(CURLOPT_QUICK_EXIT, 1)
        // An empty string also keeps the environment's proxies out.
        try set(CURLOPT_PROXY, limits.proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_BUFFERSIZE, 131_072)
        if let file = limits.certificateAuthorityFile { try set(CURLOPT_CAINFO, file) }
    }

    private func setLimits(_ limits: FetchConfiguration, budget: Duration) throws(CurlError) {
        // Only an announced length: what really comes is counted in Transfer.
        try set(CURLOPT_MAXFILESIZE_LARGE, offset: limits.maximumBytes)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connectTimeout))
        try set(CURLOPT_TIMEOUT_MS, Self.milliseconds(budget))
        try set(CURLOPT_LOW_SPEED_LIMIT, limits.lowSpeedBytesPerSecond)
        try set(CURLOPT_LOW_SPEED_TIME, (Self.milliseconds(limits.lowSpeedTime) + 999) / 1_000)
    }

    /// At least 1, because 0 means no limit to libcurl.
    private static func milliseconds(_ time: Duration) -> Int {
        max(1, min(time, .seconds(1_000_000_000)).milliseconds)
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

    var code: CURLcode
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
