internal import CCurl
package import Foundation

/// What a transfer requests over HTTP, and its limits. What is not said here is the same for all transfers.
package struct TransferOptions {
    let url: String
    /// What the request names in place of the URL's path and query.
    package var requestTarget: String?
    /// In place of GET, or of POST if there is a body.
    package var method: String?
    /// A header without a value is sent too.
    package var headers: [(name: String, value: String)] = []
    package var userAgent: String?
    /// What is posted, of which libcurl makes a copy; see ``EasyHandle/perform(sending:)`` for one without.
    package var body: Data?
    /// What libcurl's cookie engine begins with (CURLOPT_COOKIELIST); nil to do without the engine.
    package var cookies: [String]?
    /// Sent in the same line as the engine's cookies, whatever the URL is.
    package var ownCookies: String?
    /// Whether content codings are asked for, all that the library knows, and decoded: also several in a row.
    package var decodes = false
    /// Whether bytes are asked for as they are. A coding that comes all the same is decoded if ``decodes``.
    package var wantsIdentity = false
    /// Whether no connection that was used before is used again.
    package var needsNewConnection = false
    package var mayUseHTTP2 = false
    /// Whether TCP probes an idle connection.
    package var probesConnection = false
    package var bufferBytes = 131_072
    /// The URL of a proxy; the environment's are never used.
    package var proxy: String?
    /// For name look-up, connection and TLS handshake together.
    let connectTimeout: Duration
    let timeout: Duration
    /// A transfer that moves fewer bytes a second for so long, in whole seconds, has timed out; no limit with 0 bytes.
    package var lowSpeed = (bytes: 0, time: Duration.seconds(1))
    /// The limit of an announced length. What really comes is counted by the delegate.
    package var maximumBytes: Int?

    package init(url: String, connectTimeout: Duration, timeout: Duration) {
        (self.url, self.connectTimeout, self.timeout) = (url, connectTimeout, timeout)
    }
}

extension EasyHandle {
    /// Sets the options of the next transfer, and takes all others back; connections and resolved names are kept. libcurl's
    /// other defaults are safe: certificates are verified; there are no alternative services and no server push.
    package func configure(_ options: TransferOptions) throws(CurlError) {
        curl_easy_reset(pointer)
        try installCallbacks()
        try set(CURLOPT_URL, options.url)
        try set(CURLOPT_REQUEST_TARGET, options.requestTarget)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_HTTP_VERSION, options.mayUseHTTP2 ? cameo_curl_http_2_over_tls : cameo_curl_http_1_1)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // Redirects are for the caller to follow: libcurl would send the request's headers on to any host.
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NETRC, cameo_curl_netrc_ignored)
        // Timeouts by signals belong to single-threaded programs; the threads of transfers block SIGPIPE themselves.
        try set(CURLOPT_NOSIGNAL, 1)
        // An empty string also keeps the environment's proxies out.
        try set(CURLOPT_PROXY, options.proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_CAINFO, certificateAuthorities)
        try set(CURLOPT_TCP_KEEPALIVE, options.probesConnection ? 1 : 0)
        try set(CURLOPT_BUFFERSIZE, options.bufferBytes)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(options.connectTimeout))
        try set(CURLOPT_TIMEOUT_MS, Self.milliseconds(options.timeout))
        try set(CURLOPT_LOW_SPEED_LIMIT, options.lowSpeed.bytes)
        try set(CURLOPT_LOW_SPEED_TIME, (Self.milliseconds(options.lowSpeed.time) + 999) / 1_000)
        try set(CURLOPT_MAXFILESIZE_LARGE, offset: options.maximumBytes ?? 0)
        if options.method == "HEAD" {
            try set(CURLOPT_NOBODY, 1)
        } else {
            try set(CURLOPT_CUSTOMREQUEST, options.method)
        }
        if let body = options.body {
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.count)
            var bytes = [UInt8](body)
            try check(cameo_curl_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, &bytes))
        }
        // Whatever the header asks for, libcurl decodes all that it knows.
        if options.decodes { try set(CURLOPT_ACCEPT_ENCODING, options.wantsIdentity ? "identity" : "") }
        try set(CURLOPT_FRESH_CONNECT, options.needsNewConnection ? 1 : 0)
        try set(CURLOPT_USERAGENT, options.userAgent)
        if let cookies = options.cookies {
            try set(CURLOPT_COOKIEFILE, "")
            for cookie in cookies { try set(CURLOPT_COOKIELIST, cookie) }
        }
        try set(CURLOPT_COOKIE, options.ownCookies)
        try setHeaders(options.headers)
    }
}
