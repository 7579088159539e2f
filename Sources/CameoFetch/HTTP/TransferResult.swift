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
    /// The body of a complete 200; nil if it was empty.
    var body: Download.Body?
    var stop: Stop?
    /// The addresses that the address guard refused, and those that it allowed.
    var refusals: [AddressGuard.Verdict] = []
    var attempted: [IPAddress] = []
    /// The peer's address, also of a reused connection; nil without a connection.
    var address: IPAddress?
    /// Whether the connection, including TLS if required, was established.
    var wasConnected = false
    var elapsed: Duration = .zero

    init(code: CURLcode) {
        self.code = code
    }
}
