internal import CameoHTTPCache
internal import CameoModel

/// For how long a failure answers the next who ask, instead of their source.
///
/// Only what the source's server said, or that it cannot be reached, is remembered: not a limit or a refusal of our own,
/// which costs nothing to find again, and which another worker may not have.
struct FailureMemory: Sendable {
    /// A server's mistake must not hide its pictures for longer.
    private static let longest = Duration.seconds(300)

    let base: Duration

    /// The policy judges the answer, since a remembered failure is an answer that is served again; there is none where
    /// nothing came.
    ///
    /// - Returns: nil for a failure that is not to be remembered.
    func duration(
        of failure: JobFailure,
        answeredBy response: CacheableResponse?,
        _ policy: CachePolicy
    ) -> Duration? {
        guard base > .zero else { return nil }
        guard let response else { return failure.isOfTheSource ? base : nil }
        guard Self.mayBeRepeated(response, policy) else { return nil }
        var duration = base
        if [404, 410].contains(response.status), let lifetime = policy.explicitLifetime(of: response) {
            duration = lifetime
        }
        if let wish = failure.retryAfter { duration = max(duration, wish) }
        return duration > .zero ? min(duration, Self.longest) : nil
    }

    /// Most failures say nothing of caching. That keeps them out of a cache, but not out of mind for some seconds.
    private static func mayBeRepeated(_ response: CacheableResponse, _ policy: CachePolicy) -> Bool {
        switch policy.storing(response, of: HTTPFields()) {
        case .allowed, .refused(.nothingAllowsIt): break
        case .refused: return false
        }
        return policy.reuse(of: response, for: HTTPFields(), at: response.responseTime) != .stale(.noCache)
    }
}

extension JobFailure {
    /// Whether the source is at fault, or the way to it, and not a limit or a refusal of this worker.
    var isOfTheSource: Bool { code == .sourceUnreachable || code == .sourceTimeout }

    /// Whether no answer came at all, or not all of it. A server that is not the one that it should be is none of that.
    var isDisconnection: Bool { isOfTheSource && isRetryable }
}
