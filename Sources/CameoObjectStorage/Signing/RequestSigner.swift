internal import CameoModel
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

    /// The headers that sign a request, with those of the request itself.
    ///
    /// - Parameters:
    ///   - request: its headers contain `host`, and all that are to be signed.
    ///   - credentials: whose token is signed too.
    ///   - date: now, by the server's clock.
    /// - Returns: all headers to send, with `host` and `authorization`.
    func headers(
        signing request: CanonicalRequest,
        with credentials: Credentials,
        at date: Date
    ) -> [(name: String, value: String)] {
        let time = SigningTime(date)
        var request = request
        request.headers += [("x-amz-content-sha256", request.payload), ("x-amz-date", time.text)]
        if let token = credentials.sessionToken { request.headers.append(("x-amz-security-token", token)) }
        let words = [
            "Credential=\(credentials.keyID)/\(scope(time))", "SignedHeaders=\(request.signedHeaders)",
            "Signature=\(signature(of: request, credentials, time))",
        ]
        return request.headers + [("authorization", "\(Self.algorithm) \(words.joined(separator: ", "))")]
    }

    /// The query of a URL that needs no headers but `host`.
    ///
    /// - Parameters:
    ///   - request: its payload is ``unsignedPayload``, and its only header is `host`.
    ///   - credentials: whose token becomes part of the query.
    ///   - date: now, by the server's clock.
    ///   - seconds: how long the URL is valid, up to ``longestLifetime``.
    /// - Returns: the encoded query.
    func query(
        presigning request: CanonicalRequest,
        with credentials: Credentials,
        at date: Date,
        validFor seconds: Int
    ) -> String {
        let time = SigningTime(date)
        var request = request
        request.query += [
            ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.keyID)/\(scope(time))"),
            ("X-Amz-Date", time.text), ("X-Amz-Expires", String(seconds)),
            ("X-Amz-SignedHeaders", request.signedHeaders),
        ]
        if let token = credentials.sessionToken { request.query.append(("X-Amz-Security-Token", token)) }
        return "\(request.queryText)&X-Amz-Signature=\(signature(of: request, credentials, time))"
    }

    private func scope(_ time: SigningTime) -> String { "\(time.day)/\(region)/s3/aws4_request" }

    private func signature(of request: CanonicalRequest, _ credentials: Credentials, _ time: SigningTime) -> String {
        let text = [Self.algorithm, time.text, scope(time), request.digest.hex].joined(separator: "\n")
        let key = [time.day, region, "s3", "aws4_request"].reduce(Array("AWS4\(credentials.secret)".utf8)) {
            key,
            word in
            HMACKey(key).code(of: word.utf8)
        }
        return Hexadecimal.encode(HMACKey(key).code(of: text.utf8))
    }
}

/// A time as signatures contain it, to the second.
struct SigningTime: Hashable, Sendable {
    /// As `20130524`.
    let day: String
    /// As `20130524T000000Z`.
    let text: String

    init(_ date: Date) {
        let time = UTCTime(secondsSince1970: Int(date.timeIntervalSince1970.rounded(.down)))
        day = "\(time.year.text(digits: 4))\(time.month.text(digits: 2))\(time.day.text(digits: 2))"
        text = "\(day)T\(time.timeOfDay.filter { $0 != ":" })Z"
    }
}
