internal import CCurl
internal import CameoHTTPCache
internal import CameoModel

/// `http:` and `https:`, by libcurl.
final class HTTPSource: SourceProvider {
    let schemes = ["http", "https"]
    let sharesFetches = true
    let configuration: FetchConfiguration
    let exemptions: [HostExemption]
    let addressGuard: AddressGuard
    private let hostHeaders: HostHeaders
    private let transfers: TransferThread

    init(_ configuration: FetchConfiguration) throws(FetchConfigurationError) {
        try CurlLibrary.start()
        var exemptions: [HostExemption] = []
        for host in configuration.allowedHosts {
            guard let exemption = HostExemption(host) else { throw .host(host) }
            exemptions.append(exemption)
        }
        self.configuration = configuration
        self.exemptions = exemptions
        hostHeaders = try HostHeaders(configuration.hostHeaders)
        addressGuard = AddressGuard(exempt: configuration.allowedNetworks)
        transfers = TransferThread(configuration)
    }

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        var peers: [Peer] = []
        let visit = try await visit(request, noting: &peers)
        switch visit.outcome {
        case .body(let body): return FetchedSource(body, mediaType: visit.mediaType)
        case .failure(let failure): throw failure
        case .notModified: preconditionFailure("a request without validators is not answered by 304")
        }
    }

    func shutdown() { transfers.shutdown() }

    /// Asks the target, and whereto it redirects. A `validation` makes the request a conditional one (RFC 9110, section
    /// 13.1), where it is about. `peers` is given whom the visit met, also where it fails.
    ///
    /// - Throws: `JobFailure` when no answer came, or one that may not be taken; ``HostBusy``; `CancellationError`.
    func visit(
        _ request: SourceRequest,
        validating validation: Validation? = nil,
        noting peers: inout [Peer]
    ) async throws -> HTTPVisit {
        var hop = try HTTPHop(to: request.target, headers: request.headers)
        var budget = configuration.totalTimeout
        var redirects: [CacheableResponse] = []
        while true {
            // Asked of any other URL, a validator would be about other bytes.
            let validators = validation.flatMap { $0.url == hop.url.text ? $0.fields : nil }
            let transfer = try transfer(for: hop, request.purpose, adding: validators, budget: budget)
            let result = try await transfers.perform(transfer, request.clock)
            peers += self.peers(of: result, at: hop)
            let answer = try HTTPAnswer(
                result,
                of: hop,
                isConditional: validators != nil,
                budget: budget,
                limits: configuration
            )
            func ended(_ outcome: HTTPVisit.Outcome, _ head: CacheableResponse) -> HTTPVisit {
                HTTPVisit(
                    outcome: outcome,
                    head: head,
                    redirects: redirects,
                    finalURL: hop.url.text,
                    mediaType: result.mediaType,
                    textEncoding: result.textEncoding
                )
            }
            switch answer {
            case .body(let body, let head): return ended(.body(body), head)
            case .notModified(let head): return ended(.notModified, head)
            case .failure(let failure, let head): return ended(.failure(failure), head)
            case .redirect(let location, let head):
                redirects.append(head)
                try hop.follow(location, atMost: configuration.maximumRedirects)
                budget -= result.elapsed
                guard budget > .zero else { throw HTTPAnswer.tooLong(hop, limits: configuration) }
            }
        }
    }

    /// Where such redirects lead, from the target on, and what is sent to each of the places: one more than there are
    /// redirects.
    ///
    /// - Throws: `JobFailure` for redirects that would not be followed now.
    func route(of request: SourceRequest, through redirects: [CacheableResponse]) throws(JobFailure) -> [HTTPStop] {
        var hop = try HTTPHop(to: request.target, headers: request.headers)
        var stops = [stop(at: hop)]
        for redirect in redirects {
            guard let location = redirect.fields["Location"] else {
                throw .fetch(.sourceInvalid, "\(hop.description) has a redirect without its target")
            }
            try hop.follow(location, atMost: configuration.maximumRedirects)
            stops.append(stop(at: hop))
        }
        return stops
    }

    private func transfer(
        for hop: HTTPHop,
        _ purpose: FetchPurpose,
        adding validators: HTTPFields?,
        budget: Duration
    ) throws(JobFailure) -> TransferRequest {
        // An exemption holds for the host that it names, at this hop; where a redirect leads is judged anew.
        let isExempt = isExempt(hop.url.origin)
        // Said before connecting, because behind a proxy there is no other moment.
        if !isExempt, configuration.proxy != nil || IPAddress(hop.url.host) != nil,
            let reason = refusal(ofSpelling: hop.url.host)
        {
            throw .fetch(.sourceForbidden, "\(hop.description) may not be fetched: \(reason)")
        }
        // Behind a proxy, connections go to the proxy, whose address its operator chose.
        let isGuarded = !isExempt && configuration.proxy == nil
        return TransferRequest(
            url: hop.url,
            credentials: hop.credentials,
            headers: HTTPFields(headers(for: hop).lines + (validators?.lines ?? [])),
            addressGuard: isGuarded ? addressGuard : nil,
            budget: budget,
            purpose: purpose
        )
    }

    private func headers(for hop: HTTPHop) -> HTTPFields {
        var headers = HTTPFields(
            hostHeaders.headers(for: hop).sorted { $0.key < $1.key }.map {
                HTTPFields.Line(name: $0.key, value: $0.value)
            }
        )
        if headers["Accept"] == nil { headers.append("Accept", "image/*,*/*;q=0.5") }
        return headers
    }

    /// The headers with what libcurl adds of those that an answer may vary by.
    private func stop(at hop: HTTPHop) -> HTTPStop {
        var sent = headers(for: hop)
        let isOpened = sent.lines.contains { line in hop.headers[line.name] == nil && !line.isHarmless }
        if sent["User-Agent"] == nil { sent.append("User-Agent", configuration.userAgent) }
        // All that the library can decode, whatever that is: what is kept is decoded.
        if sent["Accept-Encoding"] == nil { sent.append("Accept-Encoding", "*") }
        if let credentials = hop.credentials, sent["Authorization"] == nil {
            sent.append("Authorization", credentials.basic)
        }
        return HTTPStop(url: hop.url, sent: sent, isOpenedByOperator: isOpened)
    }
}

/// One place on the way to an answer.
struct HTTPStop: Sendable {
    let url: HTTPURL
    /// As a cache compares it with other requests.
    let sent: HTTPFields
    /// Whether any of it is the operator's and may be a credential. It is in nobody's scope, so that others would find the
    /// answer who do not have it.
    let isOpenedByOperator: Bool
}
