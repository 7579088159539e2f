package import Foundation

/// A chain is the redirects that were followed, in their order, and then the answer. It is kept as one entry under the
/// URI that was asked for, so it can do no more than each of its members.
extension CachePolicy {
    package func storing(_ chain: [CacheableResponse], of request: HTTPFields) -> Storing { .refused(.nothingAllowsIt) }

    package func freshUntil(of chain: [CacheableResponse]) -> Date { .distantPast }

    package func reuse(of chain: [CacheableResponse], for request: HTTPFields, at now: Date) -> Reuse {
        .stale(.expired)
    }

    package func mayServeStale(
        _ chain: [CacheableResponse],
        for request: HTTPFields,
        after trouble: Trouble,
        at now: Date
    ) -> Bool { false }
}
