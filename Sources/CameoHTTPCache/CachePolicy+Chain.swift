package import Foundation

/// A chain is the redirects that were followed, in their order, and then the answer. It is kept as one entry under the
/// URI that was asked for, so it can do no more than each of its members.
extension CachePolicy {
    /// Refused if any member says so. A redirect that merely gives no reason to be kept (302, 303, 307) does not stand in
    /// the way: the chain is never fresh with it, but can serve while the network is gone.
    package func storing(_ chain: [CacheableResponse], of request: HTTPFields) -> Storing {
        guard let answer = chain.last else { return .refused(.nothingAllowsIt) }
        for hop in chain.dropLast() {
            switch storing(hop, of: request) {
            case .allowed, .refused(.nothingAllowsIt): continue
            case .refused(let refusal): return .refused(refusal)
            }
        }
        return storing(answer, of: request)
    }

    /// The first instant at which a member is no longer fresh; the distant past without members.
    package func freshUntil(of chain: [CacheableResponse]) -> Date { chain.map(freshUntil).min() ?? .distantPast }

    /// Fresh while every member is; else what the first says that is not.
    package func reuse(of chain: [CacheableResponse], for request: HTTPFields, at now: Date) -> Reuse {
        guard !chain.isEmpty else { return .stale(.expired) }
        return chain.lazy.map { reuse(of: $0, for: request, at: now) }.first { $0 != .fresh } ?? .fresh
    }

    package func mayServeStale(
        _ chain: [CacheableResponse],
        for request: HTTPFields,
        after trouble: Trouble,
        at now: Date
    ) -> Bool {
        !chain.isEmpty && chain.allSatisfy { mayServeStale($0, for: request, after: trouble, at: now) }
    }
}
