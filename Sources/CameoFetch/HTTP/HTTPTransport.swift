internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem

/// Sends single requests over HTTP by libcurl, without following redirects.
final class HTTPTransport: Sendable {
    let configuration: FetchConfiguration
    let exemptions: [HostExemption]
    let addressGuard: AddressGuard
    /// The operator's headers. They are looked up for each redirect by the whole origin, so none is sent on to another host,
    /// another port or, after a downgrade, over plain HTTP. They are the same for all tenants and therefore not part of a
    /// thumbnail's scope: everyone who may enqueue may get thumbnails of the pictures that they unlock.
    private let hostHeaders: [HTTPURL.Origin: [HostHeader]]
    private let transfers: TransferThread

    init(_ configuration: FetchConfiguration) throws(FetchConfigurationError) {
        if let trouble = CurlLibrary.trouble { throw .library(trouble) }
        self.configuration = configuration
        exemptions = try configuration.allowedHosts.map { host throws(FetchConfigurationError) in
            try HostExemption(host)
        }
        hostHeaders = Dictionary(grouping: configuration.hostHeaders, by: \.origin)
        for (origin, headers) in hostHeaders
        where Set(headers.map { $0.name.lowercased() }).count < headers.count {
            throw .hostHeader("\(origin.host): a header is there twice")
        }
        addressGuard = AddressGuard(exempt: configuration.allowedNetworks)
        transfers = try TransferThread(configuration)
    }

    func shutdown() { transfers.shutdown() }

    /// What a request leaves beside its response, also if it fails.
    struct Trace {
        /// The servers that it reached.
        var peers: [Peer] = []
        /// The cookies of the redirects, before and after it.
        var cookies: [String] = []
        /// What has arrived of a response whose transfer broke off, if the rest can be requested.
        var begun: (partial: PartialResponse, body: Download.Body)?
    }

    /// The response is not the rest of the download that was to be resumed, or not the part that was requested.
    struct RestRefused: Error {
        let elapsed: Duration
    }

    /// The response is a large video, of which parts can be requested, or is larger than allowed and may be one.
    struct VideoFound: Error {
        let response: PartialResponse
        let elapsed: Duration
    }

    /// Sends one request. `budget` is the rest of the total time.
    ///
    /// - Throws: `JobFailure` if there is no acceptable response; ``RestRefused``; ``VideoFound`` if it may stop at one;
    ///   ``HostBusy``; `CancellationError`.
    func perform(
        _ query: CacheConversation<HTTPURL>.Query,
        _ request: SourceRequest,
        resuming resumption: Resumption?,
        stoppingAtVideo: Bool = false,
        within budget: Duration,
        noting trace: inout Trace
    ) async throws -> HTTPAnswer {
        let route = query.route
        guard budget > .zero else { throw HTTPAnswer.tooLong(route, limits: configuration) }
        let conditions = query.validators.lines + (resumption?.partial.conditions.lines ?? [])
        let transfer = TransferRequest(
            url: route.place,
            headers: HTTPFields(headers(at: route.stop).lines + conditions),
            addressGuard: try addressGuard(for: route),
            budget: budget,
            purpose: request.purpose,
            cookies: trace.cookies,
            resumption: resumption,
            stopsAtVideo: stoppingAtVideo
        )
        let result = try await result(of: transfer, request.clock)
        trace.cookies = result.cookies
        if resumption != nil, result.refusesRest { throw RestRefused(elapsed: result.elapsed) }
        let peers = peers(of: result, at: route.place)
        trace.peers += peers
        if stoppingAtVideo, result.error?.kind == .tooLarge, let head = result.head,
            let response = PartialResponse(offering: head, from: route.place.text, peers: peers)
        {
            throw VideoFound(response: response, elapsed: result.elapsed)
        }
        trace.begun = result.begun.flatMap { body in
            let partial =
                if result.isRest {
                    resumption?.partial.grown(to: body.bytes, digest: body.digest, from: peers)
                } else {
                    result.head.flatMap { head in
                        PartialResponse(
                            head,
                            from: route.place.text,
                            count: body.bytes,
                            digest: body.digest,
                            peers: peers
                        )
                    }
                }
            return partial.map { ($0, body) }
        }
        if case .video = result.stop, let begun = trace.begun {
            throw VideoFound(response: begun.partial, elapsed: result.elapsed)
        }
        trace.peers += result.isRest ? resumption?.partial.peers ?? [] : []
        let partial = resumption?.partial
        return try HTTPAnswer(result, of: route, completing: partial, budget: budget, limits: configuration)
    }

    /// Carries out a transfer, and once more without decoding if the response names a coding that nobody knows: libcurl
    /// refuses such a body.
    private func result(of transfer: TransferRequest, _ clock: WorkClock) async throws -> TransferResult {
        let result = try await transfers.perform(transfer, clock)
        guard result.error?.kind == .wronglyEncoded, result.head?.hasUnknownCoding == true,
            result.elapsed < transfer.budget
        else { return result }
        var undecoded = transfer
        undecoded.decodes = false
        undecoded.budget -= result.elapsed
        var second = try await transfers.perform(undecoded, clock)
        second.elapsed += result.elapsed
        return second
    }

    /// Requests some bytes of a response that was given up.
    ///
    /// - Throws: as ``perform(_:_:resuming:stoppingAtVideo:within:noting:)``; ``RestRefused`` if these bytes are not sent.
    func part(
        _ bytes: Range<Int>,
        of response: PartialResponse,
        at route: HTTPRoute,
        _ cookies: [String],
        within budget: Duration,
        _ clock: WorkClock
    ) async throws -> (body: Download.Body, elapsed: Duration) {
        guard budget > .zero else { throw HTTPAnswer.tooLong(route, limits: configuration) }
        let transfer = TransferRequest(
            url: route.place,
            headers: HTTPFields(headers(at: route.stop).lines + response.conditions(for: bytes).lines),
            addressGuard: try addressGuard(for: route),
            budget: budget,
            // Its job already holds what was loaded before.
            purpose: .overlay,
            cookies: cookies,
            part: (bytes, response)
        )
        let result = try await transfers.perform(transfer, clock)
        guard !result.refusesRest, result.head?.status != 200 else { throw RestRefused(elapsed: result.elapsed) }
        let answer = try HTTPAnswer(result, of: route, budget: budget, limits: configuration)
        guard let body = answer.body else { throw answer.failure(at: route) }
        return (body, answer.elapsed)
    }

    /// The guard for the connection; nil allows any address.
    private func addressGuard(for route: HTTPRoute) throws(JobFailure) -> AddressGuard? {
        // An exemption applies to the named host only; the target of a redirect is judged separately.
        if isExempt(route.place.origin) { return nil }
        let host = route.place.host
        // Checked before connecting, because behind a proxy there is no later chance.
        if configuration.proxy != nil || IPAddress(host) != nil, let reason = refusal(ofSpelling: host) {
            throw .fetch(.sourceForbidden, "\(route.description) may not be fetched: \(reason)")
        }
        // Behind a proxy, connections go to the proxy, whose address its operator chose.
        return configuration.proxy == nil ? addressGuard : nil
    }

    /// The stop's own headers, which take precedence, and those for its origin.
    private func headers(at stop: HTTPRoute.Stop) -> HTTPFields {
        var headers = stop.fields
        for header in hostHeaders[stop.place.origin] ?? [] where stop.fields[header.name] == nil {
            headers.append(header.name, header.value)
        }
        if headers["Accept"] == nil { headers.append("Accept", "image/*,*/*;q=0.5") }
        return headers
    }

    /// The headers, including those that libcurl adds and on which a response may vary.
    func sent(at stop: HTTPRoute.Stop) -> SentFields {
        var sent = headers(at: stop)
        let isOpened = sent.lines.contains { stop.fields[$0.name] == nil && !$0.isHarmless }
        if sent["User-Agent"] == nil { sent.append("User-Agent", configuration.userAgent) }
        // libcurl requests everything that it can decode; bodies are stored decoded.
        if sent["Accept-Encoding"] == nil { sent.append("Accept-Encoding", "*") }
        return SentFields(sent, isOpenedByOperator: isOpened)
    }
}

// DESIGN: workers with different rules share a cache, which could bypass a worker's address guard. So every stored response
// records the servers that it came from, and each worker checks them by its own rules, those that apply before and while
// it connects. A response that a worker could not have fetched itself is not even validated: another server may have the
// name by now and claim that the response is unchanged.
extension HTTPTransport {
    /// Why this worker could not have fetched from these peers; nil if it could.
    func refusal(of peers: [Peer]) -> String? { peers.lazy.compactMap(refusal).first }

    private func refusal(of peer: Peer) -> String? {
        guard let origin = (try? HTTPURL(parsing: peer.origin))?.origin else { return "\(peer.origin) is no origin" }
        guard !isExempt(origin) else { return nil }
        switch peer.connection {
        case .address(let text):
            guard let address = IPAddress(text) else { return "\(text) is no address" }
            return HTTPAnswer.reason(addressGuard.judge(address), against: origin.host)
        case .proxy where configuration.proxy == nil:
            return "\(origin.host) was reached through a proxy, which alone knows its address"
        // A program is responsible for its own requests, as it is for bytes that it hands over.
        case .proxy, .program: return refusal(ofSpelling: origin.host)
        }
    }

    /// Why a host may not be reached, judged by its spelling alone: behind a proxy there is nothing else to check.
    func refusal(ofSpelling host: String) -> String? {
        switch HostSpelling(host) {
        case .name: nil
        case .neither: "\(host) is neither a name nor an address, and what a proxy would make of it nobody can tell"
        case .address(let address): HTTPAnswer.reason(addressGuard.judge(address), against: host)
        }
    }

    func isExempt(_ origin: HTTPURL.Origin) -> Bool { exemptions.contains { $0.covers(origin) } }

    /// The servers that a request was, or would have been, connected to; empty if the name has no address.
    func peers(of result: TransferResult, at place: HTTPURL) -> [Peer] {
        let origin = place.origin.description
        guard configuration.proxy == nil else { return [Peer(origin: origin, .proxy)] }
        return (result.address.map { [$0] } ?? result.attempted).map { Peer(origin: origin, .address("\($0)")) }
    }
}
