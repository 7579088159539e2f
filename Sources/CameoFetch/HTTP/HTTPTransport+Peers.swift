internal import CameoModel

// DESIGN: workers with different rules share a cache, which could bypass a worker's address guard. So every stored response
// records the servers that it came from, and each worker checks them by its own rules, those that apply before and while
// it connects. A response that a worker could not have fetched itself is not even validated: another server may have the
// name by now and claim that the response is unchanged.
extension HTTPTransport {
    /// Why this worker could not have fetched from these peers; nil if it could.
    func refusal(of peers: [Peer]) -> String? {
        peers.lazy.compactMap(refusal).first
    }

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
