internal import CameoHTTPCache
internal import CameoModel

/// Decides how long a failure is remembered and reused without asking the server.
///
/// Only the server's own errors and its unreachability are remembered. The worker's own limits and refusals are not: they
/// cost nothing to check again, and another worker may have others.
struct FailureMemory: Sendable {
    /// The longest time for which a server's mistake may hide its pictures.
    private static let longest = Duration.seconds(300)

    let base: Duration

    /// How long to remember a failure. `response` is the server's, if there was one; the policy judges it, since a remembered
    /// failure is a response that is served again.
    ///
    /// - Returns: nil for a failure that is not remembered.
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

    /// Most error responses have no caching information. They are not stored, but may be remembered for some seconds.
    private static func mayBeRepeated(_ response: CacheableResponse, _ policy: CachePolicy) -> Bool {
        switch policy.storing(response, of: HTTPFields()) {
        case .allowed, .refused(.nothingAllowsIt): break
        case .refused: return false
        }
        return policy.reuse(of: response, for: HTTPFields(), at: response.responseTime) != .stale(.noCache)
    }
}

extension JobFailure {
    /// Whether the source or the connection to it failed, rather than a check of this worker.
    var isOfTheSource: Bool { code == .sourceUnreachable || code == .sourceTimeout }

    /// Whether there was no response, or no complete one. A server with an untrusted certificate is not a disconnection.
    var isDisconnection: Bool { isOfTheSource && isRetryable }
}
