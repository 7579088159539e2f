extension CachePolicy {
    /// The fields that describe the stored bytes, which a 304 must not change (section 3.2).
    private static let describingBytes: Set = ["content-encoding", "content-length", "content-range", "content-type"]

    /// The stored response, updated by a 304 (sections 3.2, 4.3.4). The status and the fields that describe the stored bytes
    /// stay; all other fields that the 304 has, and its times, replace the stored ones. Ask ``storing(_:of:)`` again
    /// whether the result may be stored.
    ///
    /// `Age` and `Date` belong to one message, so the stored ones are removed even if the 304 has none: otherwise the
    /// response would stay as old as before.
    package func freshened(_ stored: CacheableResponse, by notModified: CacheableResponse) -> CacheableResponse {
        let news = notModified.fields.storable.lines.filter {
            !Self.describingBytes.contains($0.name.asciiLowercased)
        }
        let replaced = Set(news.map(\.name.asciiLowercased)).union(["age", "date"])
        return CacheableResponse(
            status: stored.status,
            fields: HTTPFields(stored.fields.lines.filter { !replaced.contains($0.name.asciiLowercased) } + news),
            requestTime: notModified.requestTime,
            responseTime: notModified.responseTime
        )
    }
}
