internal import CCurl
internal import CameoModel

/// `http:` and `https:`, by libcurl.
final class HTTPSource: SourceProvider {
    let schemes = ["http", "https"]
    let sharesFetches = true
    private let configuration: FetchConfiguration
    private let exemptions: [HostExemption]
    private let addressGuard: AddressGuard
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

    func open(_ source: String, headers: [String: String]) async throws -> FetchedSource {
        var hop = try HTTPHop(to: source, headers: headers)
        var budget = configuration.totalTimeout
        while true {
            let result = try await transfers.perform(try request(for: hop, budget: budget))
            switch try HTTPAnswer(result, of: hop, budget: budget, limits: configuration) {
            case .body(let body, let mediaType):
                return FetchedSource(sealed: body.file, bytes: body.bytes, digest: body.digest, mediaType: mediaType)
            case .redirect(let location):
                try hop.follow(location, atMost: configuration.maximumRedirects)
                budget -= result.elapsed
                guard budget > .zero else { throw HTTPAnswer.tooLong(hop, limits: configuration) }
            }
        }
    }

    func shutdown() { transfers.shutdown() }

    private func request(for hop: HTTPHop, budget: Duration) throws(JobFailure) -> TransferRequest {
        // An exemption holds for the host that it names, at this hop; where a redirect leads is judged anew.
        let isExempt = exemptions.contains { $0.covers(hop.url) }
        if !isExempt, let address = IPAddress(hop.url.host) {
            // Said before connecting, because behind a proxy there is no other moment.
            let verdict = addressGuard.judge(address)
            if verdict != .allowed { throw HTTPAnswer.refusal(verdict, of: hop) }
        }
        // Behind a proxy, connections go to the proxy, whose address its operator chose.
        let isGuarded = !isExempt && configuration.proxy == nil
        return TransferRequest(
            url: hop.url,
            credentials: hop.credentials,
            headers: hostHeaders.headers(for: hop),
            addressGuard: isGuarded ? addressGuard : nil,
            budget: budget
        )
    }
}
