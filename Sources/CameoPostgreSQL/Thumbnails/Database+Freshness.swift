internal import CameoModel
internal import CameoQueue
internal import CameoStore

extension Database {
    func freshness(of request: ThumbnailRequest) throws -> Freshness {
        // The freshness of overlays is not recorded, so an overlay that may change must be fetched.
        guard request.overlaySources.allSatisfy(Self.isUnchanging) else { return .unknown }
        if Self.isUnchanging(request.source) { return .unchanging }
        var key = SourceKey(uri: request.source, scope: RequestScope(headers: request.headers))
        if case .source(let uri) = CameoURI(request.source) { key = SourceKey(uri: uri, scope: nil) }
        // Only the fetcher can decide whether an answer with Vary applies to a request.
        let hex: String? = try value(
            """
            SELECT blob FROM (
              SELECT * FROM source WHERE text_digest(uri) = text_digest($1) AND scope = $2
              ORDER BY source_seen DESC, responded_at DESC LIMIT 1) AS newest
            WHERE variant = '' AND (pinned OR fresh_until > $3)
            """,
            [key.uri, key.scopeText, now]
        )
        return hex.flatMap(BlobDigest.init(hex:)).map(Freshness.cached) ?? .unknown
    }

    /// Whether a source's name identifies its content: bytes by digest, a drawing by its text.
    private static func isUnchanging(_ source: String) -> Bool {
        if DataURI.isDataURI(source) || Initials.isInitialsURI(source) { return true }
        if case .blob = CameoURI(source) { return true }
        return false
    }
}
