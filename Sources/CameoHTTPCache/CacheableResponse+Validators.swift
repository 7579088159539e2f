extension CacheableResponse {
    /// `If-None-Match` and `If-Modified-Since` for a request that validates this answer; empty where it has nothing to
    /// be known by (section 4.3.1).
    package var validators: HTTPFields {
        var request = HTTPFields()
        request.set("If-None-Match", entityTag?.text)
        if lastModified != nil { request.set("If-Modified-Since", fields["Last-Modified"]) }
        return request
    }

    /// Whether the 304 speaks of this answer, if it answers a request with the ``validators`` of this answer alone
    /// (section 4.3.4): a strong entity tag must be the same, a weak one or a `Last-Modified` must correspond.
    ///
    /// A 304 without any validator is taken at its word. The section would have the stored answer lack them too, but
    /// some servers (Python's `http.server` is one) never repeat them, and only one answer was asked about.
    package func isNamed(by notModified: CacheableResponse) -> Bool {
        if let tag = notModified.entityTag {
            if !tag.isWeak { return entityTag == tag }
            if let entityTag { return entityTag.opaque == tag.opaque }
            return notModified.lastModified != nil && lastModified == notModified.lastModified
        }
        return notModified.lastModified == nil || lastModified == notModified.lastModified
    }

    private var entityTag: EntityTag? { fields["ETag"].flatMap(EntityTag.init(parsing:)) }
}
