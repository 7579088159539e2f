extension CacheableResponse {
    /// `If-None-Match` and `If-Modified-Since` for a request that validates this response; empty if it has no validators
    /// (section 4.3.1).
    package var validators: HTTPFields {
        var request = HTTPFields()
        request.set("If-None-Match", entityTag?.text)
        if lastModified != nil { request.set("If-Modified-Since", fields["Last-Modified"]) }
        return request
    }

    /// Whether a 304 to a request with this response's ``validators`` alone refers to this response (section 4.3.4): a
    /// strong entity tag must be equal; a weak one, or `Last-Modified`, must correspond.
    ///
    /// A 304 without validators is accepted. The section would require that the stored response has none either, but some
    /// servers (such as Python's `http.server`) never repeat them, and the request named only one response.
    package func isNamed(by notModified: CacheableResponse) -> Bool {
        if let tag = notModified.entityTag {
            if !tag.isWeak { return entityTag == tag }
            if let entityTag { return entityTag.opaque == tag.opaque }
            return notModified.lastModified != nil && lastModified == notModified.lastModified
        }
        return notModified.lastModified == nil || lastModified == notModified.lastModified
    }

    var entityTag: EntityTag? { fields["ETag"].flatMap(EntityTag.init(parsing:)) }
}
