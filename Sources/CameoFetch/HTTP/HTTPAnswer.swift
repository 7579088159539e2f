internal import CCurl
internal import CameoHTTPCache
internal import CameoModel

/// What the end of a hop means for the fetch, other than that it did not come to an answer.
enum HTTPAnswer {
    case body(Download.Body, CacheableResponse)
    /// The bytes that the request named by its validators are still the right ones.
    case notModified(CacheableResponse)
    /// Not yet resolved.
    case redirect(to: String, CacheableResponse)
    /// By its status.
    case failure(JobFailure, CacheableResponse)

    /// `isConditional` tells whether the request had validators, `budget` what the hop had of the total time.
    init(
        _ result: TransferResult,
        of hop: HTTPHop,
        isConditional: Bool,
        budget: Duration,
        limits: FetchConfiguration
    ) throws(JobFailure) {
        // A status says it all, however the transfer of a body that nobody wants ended. 1xx are no final answers.
        if let head = result.head, head.status != 200 {
            if head.status == 304, isConditional {
                self = .notModified(head)
            } else if (300..<400).contains(head.status), head.status != 304, let location = result.location {
                self = .redirect(to: location, head)
            } else {
                self = .failure(HTTPStatus(head.status).failure(of: hop, retryAfter: result.retryAfter), head)
            }
            return
        }
        if let stop = result.stop { throw Self.failure(of: hop, stop: stop, limits: limits) }
        guard result.code == CURLE_OK else {
            throw Self.failure(of: hop, result: result, budget: budget, limits: limits)
        }
        guard let head = result.head else {
            throw .fetch(.sourceUnreachable, "GET \(hop.description) got no answer")
        }
        guard !result.announcesSeveralLengths else {
            throw .fetch(.sourceInvalid, "\(hop.description) announces several lengths of one body")
        }
        guard let body = result.body else { throw .fetch(.sourceInvalid, "\(hop.description) is empty") }
        self = .body(body, head)
    }

    static func tooLong(_ hop: HTTPHop, limits: FetchConfiguration) -> JobFailure {
        .fetch(.sourceTimeout, "GET \(hop.description) did not finish within \(limits.totalTimeout)")
    }

    /// `verdict` is any but `allowed`.
    static func refusal(_ verdict: AddressGuard.Verdict, of hop: HTTPHop) -> JobFailure {
        let reason = reason(verdict, against: hop.url.host) ?? ""
        return .fetch(.sourceForbidden, "\(hop.description) may not be fetched: \(reason)")
    }

    /// What the guard has against a host's address, and how to allow it; nil for `allowed`.
    static func reason(_ verdict: AddressGuard.Verdict, against host: String) -> String? {
        guard case .refused(let address, let range) = verdict else { return nil }
        guard let address, let range else { return "\(host) is not reached over the internet protocol" }
        let subject = address.description == host ? "" : "\(host) has the address "
        return "\(subject)\(address) is in the private or reserved network \(range); start the worker with "
            + "--allow-host \(host) or --allow-network \(AddressRange(address)) to allow it"
    }

    private static func failure(
        of hop: HTTPHop,
        stop: TransferResult.Stop,
        limits: FetchConfiguration
    ) -> JobFailure {
        switch stop {
        case .tooLarge:
            .fetch(.sourceTooLarge, "\(hop.description) has more than the allowed \(limits.maximumBytes) bytes")
        case .memory(let errno): .fetch(hop.description, lacking: errno)
        case .unneededBody: .fetch(.sourceUnreachable, "GET \(hop.description) got no answer")
        }
    }
}
