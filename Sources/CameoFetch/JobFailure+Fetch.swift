internal import CameoModel

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
    static func fetch(_ name: String, lacking resource: Errno) -> JobFailure {
        fetch(.storeFailed, "no room to hold \(name) while it is rendered: \(resource)", isRetryable: true)
    }
}
