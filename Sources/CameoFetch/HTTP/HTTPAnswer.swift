internal import CCurl
internal import CameoModel

/// What the end of a hop means for the fetch, other than its failure.
enum HTTPAnswer {
    case body(Download.Body, mediaType: String?)
    /// Not yet resolved.
    case redirect(String)

    /// `budget` is what the hop had of the total time.
    init(
        _ result: TransferResult,
        of hop: HTTPHop,
        budget: Duration,
        limits: FetchConfiguration
    ) throws(JobFailure) {
        // A status says it all, however the transfer of a body that nobody wants ended. 1xx are no final answers.
        guard result.status < 200 || result.status == 200 else {
            if (300..<400).contains(result.status), result.status != 304, let location = result.location {
                self = .redirect(location)
                return
            }
            throw HTTPStatus(result.status).failure(of: hop, retryAfter: result.retryAfter)
        }
        if let stop = result.stop { throw Self.failure(of: hop, stop: stop, limits: limits) }
        guard result.code == CURLE_OK else {
            throw Self.failure(of: hop, result: result, budget: budget, limits: limits)
        }
        guard result.status == 200 else {
            throw .fetch(.sourceUnreachable, "GET \(hop.description) got no answer")
        }
        guard let body = result.body else { throw .fetch(.sourceInvalid, "\(hop.description) is empty") }
        self = .body(body, mediaType: result.mediaType)
    }

    static func tooLong(_ hop: HTTPHop, limits: FetchConfiguration) -> JobFailure {
        .fetch(.sourceTimeout, "GET \(hop.description) did not finish within \(limits.totalTimeout)")
    }

    /// `verdict` is any but `allowed`.
    static func refusal(_ verdict: AddressGuard.Verdict, of hop: HTTPHop) -> JobFailure {
        guard case .refused(let address?, let range?) = verdict else {
            return .fetch(.sourceForbidden, "\(hop.description) is not reached over the internet protocol")
        }
        let host = address.description == hop.url.host ? "" : " \(hop.url.host) has the address"
        return .fetch(
            .sourceForbidden,
            "\(hop.description) may not be fetched:\(host) \(address) is in the private or reserved network \(range); "
                + "start the worker with --allow-host \(hop.url.host) or --allow-network \(AddressRange(address)) "
                + "to allow it"
        )
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
