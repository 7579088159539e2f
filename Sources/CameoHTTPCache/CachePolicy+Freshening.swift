extension CachePolicy {
    /// What says how the stored bytes are to be read (section 3.2).
    private static let describingBytes: Set = ["content-encoding", "content-length", "content-range", "content-type"]

    /// The stored answer as a 304 leaves it (sections 3.2, 4.3.4): the stored status and the fields that describe the
    /// stored bytes, all else as the 304 has it, and its times. Whether the result may be kept is for
    /// ``storing(_:of:)`` to say again.
    ///
    /// `Age` and `Date` speak of one message, so the stored ones go even where the 304 has none: kept, they would make
    /// the answer as old as it was before.
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
