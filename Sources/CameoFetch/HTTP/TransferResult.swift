internal import CCurl
internal import CameoHTTPCache
internal import CameoModel

/// How a hop ended. ``HTTPAnswer`` says what that means.
struct TransferResult: Sendable {
    /// Why the transfer was ended from this side.
    enum Stop: Sendable {
        /// More bytes came than may.
        case tooLarge
        /// Of an answer whose body is of no use, enough was read.
        case unneededBody
        /// The memory file could not take the bytes.
        case memory(Errno)
    }

    var code: CURLcode
    /// Of the final response; 0 when none came.
    var status = 0
    var location: String?
    /// Nil when no answer came.
    var head: CacheableResponse?
    var mediaType: String?
    /// The `charset` that the answer declares.
    var textEncoding: String?
    /// What `Retry-After` asks for; nil without one that can be read.
    var retryAfter: Duration?
    /// The Content-Length, which counts encoded bytes; nil when there was none.
    var announcedBytes: Int?
    /// Whether there are several that differ: where the body ends is then anybody's guess (RFC 9112, section 6.3).
    var announcesSeveralLengths = false
    /// Nil unless a complete answer 200 had a body.
    var body: Download.Body?
    var stop: Stop?
    /// What the address guard did not let pass, and what it did.
    var refusals: [AddressGuard.Verdict] = []
    var attempted: [IPAddress] = []
    /// At the other end of the connection, also of one that was there before; nil without one.
    var address: IPAddress?
    /// Whether a connection, with TLS where asked for, was there to send the request on.
    var wasConnected = false
    var elapsed: Duration = .zero

    init(code: CURLcode) {
        self.code = code
    }
}
