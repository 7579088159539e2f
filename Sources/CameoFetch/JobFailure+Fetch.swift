package import CameoModel

extension JobFailure {
    /// A failure at stage `fetch`. If `isRetryable` is nil, the code decides.
    static func fetch(
        _ code: Code,
        _ message: String,
        isRetryable: Bool? = nil,
        retryAfter: Duration? = nil
    ) -> JobFailure {
        JobFailure(code, at: .fetch, message, isRetryable: isRetryable, retryAfter: retryAfter)
    }

    /// A failure of this machine, not of the source: it has run out of memory or descriptors.
    package static func fetch(_ name: String, lacking resource: Errno) -> JobFailure {
        let message = "this machine has no room for \(name) while it is rendered: \(resource)"
        return JobFailure(.storeFailed, at: .fetch, message, isRetryable: true, isShortage: true)
    }
}
