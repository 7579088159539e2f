internal import CameoModel

extension JobFailure {
    /// A failure of the fetch; `isRetryable` nil takes what the code says.
    static func fetch(
        _ code: Code,
        _ message: String,
        isRetryable: Bool? = nil,
        retryAfter: Duration? = nil
    ) -> JobFailure {
        JobFailure(code, at: .fetch, message, isRetryable: isRetryable, retryAfter: retryAfter)
    }

    /// This machine, not the source, is out of something: memory, descriptors.
    static func fetch(_ name: String, lacking resource: Errno) -> JobFailure {
        fetch(.storeFailed, "no room to hold \(name) while it is rendered: \(resource)", isRetryable: true)
    }
}
