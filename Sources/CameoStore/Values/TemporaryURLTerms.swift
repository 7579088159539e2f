/// What a ``TemporaryURL`` permits, and for how long.
package struct TemporaryURLTerms: Hashable, Sendable {
    package enum Method: Sendable {
        case get, head
    }

    /// The only method that the URL answers.
    package var method = Method.get
    /// The `Content-Type` of the answer; nil for the one that the bytes were stored with.
    package var mediaType: String?
    /// How long a URL is valid at most, a second to seven days. Half of that is left when it is made, unless the credentials
    /// of the storage end before.
    package var lifetime: Duration
    /// The server in the URL; nil for the one that the storage itself is reached by.
    package var endpoint: Endpoint?

    package init(
        method: Method = .get,
        mediaType: String? = nil,
        lifetime: Duration,
        endpoint: Endpoint? = nil
    ) {
        (self.method, self.mediaType, self.lifetime, self.endpoint) = (method, mediaType, lifetime, endpoint)
    }
}
