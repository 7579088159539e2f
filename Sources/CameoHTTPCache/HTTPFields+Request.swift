extension HTTPFields {
    /// Whether the request takes a stored answer or a failure (504), but nothing from the network (section 5.2.1.7).
    package var isOnlyIfCached: Bool { CacheDirectives(of: self).contains(.onlyIfCached) }
}
