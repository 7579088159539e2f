internal import CCurl
internal import CameoHTTPCache
internal import CameoModel

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

    init(code: CURLcode) {
        self.code = code
    }

    /// Whether the server sent a part other than the one that was requested, or said that there is none (416).
    var refusesRest: Bool {
        if case .longerRest = stop { return true }
        return head.map { $0.status == 416 || ($0.status == 206 && !isRest) } ?? false
    }
}
