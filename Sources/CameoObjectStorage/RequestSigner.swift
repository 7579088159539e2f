internal import CameoModel
internal import CameoSystem
internal import Foundation

// DESIGN. Requests are signed here and not by libcurl, because URLs have to be signed here anyway, and so that a worker
// whose clock is wrong can sign with the server's time: libcurl knows the machine's time alone, and a server refuses
// what differs by a quarter of an hour. One signer for both is checked by the examples that AWS publishes.

/// Signs requests for S3 (AWS Signature Version 4,
/// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html).
struct RequestSigner: Sendable {
    private static let algorithm = "AWS4-HMAC-SHA256"
    static let unsignedPayload = "UNSIGNED-PAYLOAD"
    /// The maximum lifetime of a signed URL in seconds.
    static let longestLifetime = 604_800

    let region: String

    /// All headers to send, with `host` and `authorization`: those of the request, which contain `host` and are all signed, as
    /// is the token of the credentials. The date is now, by the server's clock.
    func headers(
        signing request: CanonicalRequest,
        with credentials: Credentials,
        at date: Date
    ) -> [(name: String, value: String)] {
        let time = Self.time(date)
        var request = request
        request.headers += [("x-amz-content-sha256", request.payload), ("x-amz-date", time)]
        if let token = credentials.sessionToken { request.headers.append(("x-amz-security-token", token)) }
        let words = [
            "Credential=\(credentials.keyID)/\(scope(time))", "SignedHeaders=\(request.signedHeaders)",
            "Signature=\(signature(of: request, credentials, time))",
        ]
        return request.headers + [("authorization", "\(Self.algorithm) \(words.joined(separator: ", "))")]
    }

    /// The encoded query of a URL that needs no headers but `host`, the only one that the request has; its payload is
    /// ``unsignedPayload``. The token of the credentials becomes part of the query. The date is now, by the server's clock, and
    /// the URL is valid for up to ``longestLifetime``.
    func query(
        presigning request: CanonicalRequest,
        with credentials: Credentials,
        at date: Date,
        validFor seconds: Int
    ) -> String {
        let time = Self.time(date)
        var request = request
        request.query += [
            ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.keyID)/\(scope(time))"),
            ("X-Amz-Date", time), ("X-Amz-Expires", String(seconds)),
            ("X-Amz-SignedHeaders", request.signedHeaders),
        ]
        if let token = credentials.sessionToken { request.query.append(("X-Amz-Security-Token", token)) }
        return "\(request.queryText)&X-Amz-Signature=\(signature(of: request, credentials, time))"
    }

    /// As `20130524T000000Z`, of which the first eight characters are the day.
    private static func time(_ date: Date) -> String {
        UTCTime.text(Int(date.timeIntervalSince1970.rounded(.down)), "%04Y%m%dT%H%M%SZ")
    }

    private func scope(_ time: String) -> String { "\(time.prefix(8))/\(region)/s3/aws4_request" }

    private func signature(of request: CanonicalRequest, _ credentials: Credentials, _ time: String) -> String {
        let text = [Self.algorithm, time, scope(time), request.digest.hex].joined(separator: "\n")
        var key = Array("AWS4\(credentials.secret)".utf8)
        for word in scope(time).split(separator: "/") { key = HMACKey(key).code(of: word.utf8) }
        return Hexadecimal.encode(HMACKey(key).code(of: text.utf8))
    }
}

/// A request in the form that is signed.
struct CanonicalRequest {
    var method: HTTPRequest.Method
    /// Percent-encoded, from the slash on.
    var path: String
    /// Names and values, not encoded, in any order.
    var query: [(name: String, value: String)] = []
    /// The headers to sign, in any order; their names are unique and in lower case.
    var headers: [(name: String, value: String)]
    /// The SHA-256 of the body in hexadecimal digits, or `UNSIGNED-PAYLOAD`.
    var payload: String

    /// The query as it stands in the URL: sorted, with all that is reserved encoded, and a `=` even without a value.
    var queryText: String {
        query.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }.sorted()
            .joined(separator: "&")
    }

    /// The names of the signed headers.
    var signedHeaders: String { headers.map(\.name).sorted().joined(separator: ";") }

    var digest: BlobDigest {
        let lines = headers.sorted { $0.name < $1.name }.map { "\($0.name):\($0.value)\n" }.joined()
        let text = [method.rawValue, path, queryText, lines, signedHeaders, payload].joined(separator: "\n")
        return BlobDigest(of: Data(text.utf8))
    }
}

// DESIGN. A URL that is signed with the present time differs from the one of a second before, so that no cache finds its
// answer again. So time is divided into windows, half as long as a URL is valid, and a URL is signed with the beginning
// of its window: all programs make the same URL of an object within a window, and at least half of its time is left.

/// The time of a signed URL's signature, and for how long it is valid.
struct SigningWindow: Hashable, Sendable {
    let start: Date
    /// From the start on.
    let seconds: Int

    /// The URL is valid for the lifetime, which becomes a second to seven days, but not beyond the end of the credentials, if
    /// that is known. `now` is by the server's clock.
    init(lifetime: Duration, now: Date, credentialsEnd end: Date?) {
        let wanted = min(max(1, lifetime.milliseconds / 1_000), RequestSigner.longestLifetime)
        let step = Double(max(1, wanted / 2))
        let start = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / step).rounded(.down) * step)
        let left = end.map { Int($0.timeIntervalSince(start).rounded(.down)) } ?? wanted
        (self.start, seconds) = (start, min(wanted, max(1, left)))
    }

    /// How long the URL is valid from a time on.
    func remaining(at now: Date) -> Duration {
        .seconds(max(0, start.addingTimeInterval(Double(seconds)).timeIntervalSince(now)))
    }
}
