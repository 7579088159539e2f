internal import CameoModel

// DESIGN: what one worker may fetch another may not, and they share a cache, which would be a way around the address guard.
// So whatever is kept says where it came from, and who reads it judges that by the rules of its own: those that hold
// before and while it connects. An answer that a worker might not have had is not there for it, not even to be validated:
// whoever has its name now may say that it is unchanged.
extension HTTPSource {
    /// Why this worker might not have had what came from there; nil if it might.
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
        // A program answers for what its own requests reach, as for bytes that it hands over.
        case .proxy, .program: return refusal(ofSpelling: origin.host)
        }
    }

    /// Behind a proxy a host is what the proxy takes it for.
    func refusal(ofSpelling host: String) -> String? {
        switch HostSpelling(host) {
        case .name: nil
        case .neither: "\(host) is neither a name nor an address, and what a proxy would make of it nobody can tell"
        case .address(let address): HTTPAnswer.reason(addressGuard.judge(address), against: host)
        }
    }

    func isExempt(_ origin: HTTPURL.Origin) -> Bool { exemptions.contains { $0.covers(origin) } }

    /// To whom a hop's connection was, or would have been; empty if its name has no address.
    func peers(of result: TransferResult, at hop: HTTPHop) -> [Peer] {
        let origin = hop.url.origin.description
        guard configuration.proxy == nil else { return [Peer(origin: origin, .proxy)] }
        return (result.address.map { [$0] } ?? result.attempted).map { Peer(origin: origin, .address("\($0)")) }
    }
}
