internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem

/// The response to one request.
struct HTTPAnswer: Sendable {
    let head: CacheableResponse
    /// The body of a 200, for which also a download counts that was resumed to its end; nil for any other status.
    let body: Download.Body?
    let elapsed: Duration

    /// `budget` is the time that the request had; `partial` is what the response was to complete.
    ///
    /// - Throws: `JobFailure` if there is no response, or one whose body is not acceptable.
    init(
        _ result: TransferResult,
        of route: HTTPRoute,
        completing partial: PartialResponse? = nil,
        budget: Duration,
        limits: FetchConfiguration
    ) throws(JobFailure) {
        elapsed = result.elapsed
        // Such a status decides, even if the transfer of its unneeded body failed. 1xx are not final responses.
        if let head = result.head, head.status != 200, !result.isRest {
            (self.head, body) = (head, nil)
            return
        }
        switch result.stop {
        case .tooLarge:
            throw .fetch(.sourceTooLarge, "\(route.description) has more than the allowed \(limits.maximumBytes) bytes")
        case .memory(let errno): throw .fetch(route.description, lacking: errno)
        case .unneededBody, .longerRest, .video:
            throw .fetch(.sourceUnreachable, "GET \(route.description) got no answer")
        case nil: break
        }
        if let error = result.error { throw Self.failure(error, of: route, result, budget: budget, limits: limits) }
        guard let head = result.head else {
            throw .fetch(.sourceUnreachable, "GET \(route.description) got no answer")
        }
        guard !result.announcesSeveralLengths else {
            throw .fetch(.sourceInvalid, "\(route.description) announces several lengths of one body")
        }
        guard let body = result.body else {
            guard !result.isRest else {
                throw .fetch(.sourceUnreachable, "\(route.description) broke off before its end")
            }
            throw .fetch(.sourceInvalid, "\(route.description) is empty")
        }
        self.head = result.isRest ? partial?.head(completedBy: head) ?? head : head
        self.body = body
    }

    /// The failure for a status other than 200.
    func failure(at route: HTTPRoute) -> JobFailure {
        let failure = failure(for: head.status, of: route)
        guard route.stop.dropsCredentials else { return failure }
        return failure.saying("\(failure.message); the credentials in the redirect were not sent to another origin")
    }

    static func tooLong(_ route: HTTPRoute, limits: FetchConfiguration) -> JobFailure {
        .fetch(.sourceTimeout, "GET \(route.description) did not finish within \(limits.totalTimeout)")
    }

    /// Why the guard refuses a host's address, and how to allow it; nil for `allowed`.
    static func reason(_ verdict: AddressGuard.Verdict, against host: String) -> String? {
        guard case .refused(let address, let range) = verdict else { return nil }
        guard let address, let range else { return "\(host) is not reached over the internet protocol" }
        let subject = address.description == host ? "\(host)" : "\(host) has the address \(address), which"
        return "\(subject) is in the private or reserved network \(range); start the worker with "
            + "--allow-host \(host) or --allow-network \(AddressRange(address)) to allow it"
    }

    /// The only interpretation of why a source's transfer failed. The text of libcurl is quoted, never parsed.
    private static func failure(
        _ reason: CurlError,
        of route: HTTPRoute,
        _ result: TransferResult,
        budget: Duration,
        limits: FetchConfiguration
    ) -> JobFailure {
        let name = route.description
        // A name that cannot be resolved for want of a descriptor is no different from one that does not exist.
        if let shortage = result.unopenedSocket ?? .ofDescriptors, result.address == nil, shortage.isShortage {
            return .fetch(name, lacking: shortage)
        }
        switch reason.kind {
        // libcurl's timer counts whole milliseconds and may be early.
        case .timedOut where result.elapsed + .milliseconds(10) >= budget: return tooLong(route, limits: limits)
        case .timedOut where !result.wasConnected:
            return .fetch(.sourceTimeout, "\(name) was not connected within \(limits.connectTimeout)")
        case .timedOut:
            let speed = "\(limits.lowSpeedBytesPerSecond) bytes a second"
            return .fetch(.sourceTimeout, "\(name) sent less than \(speed) for \(limits.lowSpeedTime)")
        case .tooLarge:
            let announced = (result.announcedBytes ?? result.head?.contentLength).map { "\($0) bytes" } ?? "more bytes"
            return .fetch(.sourceTooLarge, "\(name) has \(announced), more than the allowed \(limits.maximumBytes)")
        case .notConnected where result.attempted.isEmpty:
            guard let refusal = result.refusals.first else { fallthrough }
            let reason = Self.reason(refusal, against: route.place.host) ?? ""
            return .fetch(.sourceForbidden, "\(name) may not be fetched: \(reason)")
        case .notConnected, .network, .detour: return .fetch(.sourceUnreachable, "\(name) cannot be reached: \(reason)")
        case .brokenOff: return .fetch(.sourceUnreachable, "\(name) broke off before its end: \(reason)")
        case .untrusted: return .fetch(.sourceUnreachable, "\(name) cannot be trusted: \(reason)", isRetryable: false)
        case .wronglyEncoded: return .fetch(.sourceInvalid, "\(name) is wrongly encoded: \(reason)")
        case .otherProtocol:  // the scheme has been checked, so it is the response: HTTP/0.9
            return .fetch(.sourceInvalid, "\(name) is not served over HTTP/1.0 or later: \(reason)")
        case .malformedURL: return .fetch(.sourceInvalid, "\(name) is not a valid URL: \(reason)")
        case .outOfMemory where result.wasConnected:
            let message = "\(name) answered with a line that is too long, or this machine has no memory: \(reason)"
            return .fetch(.sourceUnreachable, message)
        case .outOfMemory, .stopped, .machine:
            return .fetch(.storeFailed, "this machine could not fetch \(name): \(reason)", isRetryable: true)
        case .notSentAgain, .other:
            return .fetch(.sourceUnreachable, "\(name) cannot be fetched: \(reason)", isRetryable: false)
        }
    }

    /// The failure for a final status that is neither 200 nor a followed redirect.
    private func failure(for code: Int, of route: HTTPRoute) -> JobFailure {
        let name = Self.phrases[code].map { "\(code) \($0)" } ?? "\(code)"
        let message = "GET \(route.description) answered \(name)"
        switch code {
        case 401, 403: return .fetch(.sourceForbidden, message)
        case 404, 410: return .fetch(.sourceNotFound, message)
        case 408, 425, 429, 500...:
            let retryAfter = head.retryAfter
            let wish = retryAfter.map { wait in
                wait < CacheableResponse.mostRetryAfter ? "\(wait.components.seconds) seconds" : "for years"
            }
            let text = message + (wish.map { " and asks to wait \($0)" } ?? "")
            return .fetch(.sourceHTTPStatus, text, isRetryable: true, retryAfter: retryAfter)
        default: return .fetch(.sourceHTTPStatus, message, isRetryable: false)
        }
    }

    /// The phrases of RFC 9110, section 15, and RFC 6585. The server's own text comes from a stranger.
    private static let phrases = [
        201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently",
        302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 421: "Misdirected Request",
        425: "Too Early", 426: "Upgrade Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
