extension CacheableResponse {
    /// `If-None-Match` and `If-Modified-Since` for a request that validates this answer; empty where it has nothing to
    /// be known by (section 4.3.1).
    package var validators: HTTPFields { HTTPFields() }

    /// Whether the 304 speaks of this answer (section 4.3.4).
    package func isNamed(by notModified: CacheableResponse) -> Bool { false }
}
