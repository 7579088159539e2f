package import Foundation

/// Judges a chain: the redirects in their order, then the response that they led to. The chain is stored as one entry under
/// the requested URI, so it allows no more than each of its members.
extension CachePolicy {
    /// A chain is refused if any member forbids storing. A redirect that merely gives no reason to store it (302, 303, 307)
    /// is accepted: the chain is then never fresh, but can be served while the origin is unreachable.
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

    /// The first instant at which a member is no longer fresh; the distant past for an empty chain.
    package func freshUntil(of chain: [CacheableResponse]) -> Date { chain.map(freshUntil).min() ?? .distantPast }

    /// A chain is fresh while every member is; otherwise the first stale member gives the reason.
    package func reuse(of chain: [CacheableResponse], for request: HTTPFields, at now: Date) -> Reuse {
        guard !chain.isEmpty else { return .stale(.expired) }
        return chain.lazy.map { reuse(of: $0, for: request, at: now) }.first { $0 != .fresh } ?? .fresh
    }

    /// Each member must be fresh or allow it.
    package func mayServeWhileRevalidating(
        _ chain: [CacheableResponse],
        for request: HTTPFields,
        at now: Date
    ) -> Bool {
        !chain.isEmpty
            && chain.allSatisfy { member in
                reuse(of: member, for: request, at: now) == .fresh
                    || mayServeWhileRevalidating(member, for: request, at: now)
            }
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
