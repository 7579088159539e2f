extension HTTPFields {
    /// Whether the request accepts only a stored response, or else a 504 (section 5.2.1.7).
    package var isOnlyIfCached: Bool { CacheDirectives(of: self).contains(.onlyIfCached) }
}
