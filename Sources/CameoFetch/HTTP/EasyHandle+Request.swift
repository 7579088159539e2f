internal import CCurl
internal import CameoHTTPCache
internal import Foundation

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
        try setHeaders(lines.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" })
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
        try set(CURLOPT_CONNECTTIMEOUT_MS, limits.connectTimeout.wholeMilliseconds)
        try set(CURLOPT_TIMEOUT_MS, budget.wholeMilliseconds)
        try set(CURLOPT_LOW_SPEED_LIMIT, limits.lowSpeedBytesPerSecond)
        try set(CURLOPT_LOW_SPEED_TIME, (limits.lowSpeedTime.wholeMilliseconds + 999) / 1_000)
    }
}

extension Duration {
    /// At least 1, because 0 means no limit to libcurl.
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(clamping: min(seconds, 1_000_000_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
