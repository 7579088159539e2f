internal import CCurl
internal import CameoHTTPCache
internal import CameoModel

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
        if let stop = result.stop { throw Self.failure(of: route, stop: stop, limits: limits) }
        guard result.code == CURLE_OK else {
            throw Self.failure(of: route, result: result, budget: budget, limits: limits)
        }
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
        HTTPStatus(head.status).failure(of: route, retryAfter: head.retryAfter)
    }

    static func tooLong(_ route: HTTPRoute, limits: FetchConfiguration) -> JobFailure {
        .fetch(.sourceTimeout, "GET \(route.description) did not finish within \(limits.totalTimeout)")
    }

    /// `verdict` is any but `allowed`.
    static func refusal(_ verdict: AddressGuard.Verdict, of route: HTTPRoute) -> JobFailure {
        let reason = reason(verdict, against: route.place.host) ?? ""
        return .fetch(.sourceForbidden, "\(route.description) may not be fetched: \(reason)")
    }

    /// Why the guard refuses a host's address, and how to allow it; nil for `allowed`.
    static func reason(_ verdict: AddressGuard.Verdict, against host: String) -> String? {
        guard case .refused(let address, let range) = verdict else { return nil }
        guard let address, let range else { return "\(host) is not reached over the internet protocol" }
        let subject = address.description == host ? "" : "\(host) has the address "
        return "\(subject)\(address) is in the private or reserved network \(range); start the worker with "
            + "--allow-host \(host) or --allow-network \(AddressRange(address)) to allow it"
    }

    private static func failure(
        of route: HTTPRoute,
        stop: TransferResult.Stop,
        limits: FetchConfiguration
    ) -> JobFailure {
        switch stop {
        case .tooLarge:
            .fetch(.sourceTooLarge, "\(route.description) has more than the allowed \(limits.maximumBytes) bytes")
        case .memory(let errno): .fetch(route.description, lacking: errno)
        case .unneededBody, .longerRest, .video: .fetch(.sourceUnreachable, "GET \(route.description) got no answer")
        }
    }
}
