internal import CameoModel
internal import CameoStore
internal import GRDB

extension SQLiteStore {
    static func freshness(of request: ThumbnailRequest, _ db: SQLiteTransaction) throws -> Freshness {
        // The freshness of overlays is not recorded, so an overlay that may change must be fetched.
        guard request.overlaySources.allSatisfy(isUnchanging) else { return .unknown }
        if isUnchanging(request.source) { return .unchanging }
        var key = SourceKey(uri: request.source, scope: RequestScope(headers: request.headers))
        if case .source(let uri) = CameoURI(request.source) { key = SourceKey(uri: uri, scope: nil) }
        // Only the fetcher can decide whether an answer with Vary applies to a request.
        let newest = try db.cachedStatement(
            sql: """
                SELECT blob FROM (
                  SELECT * FROM source WHERE uri = ? AND scope = ? ORDER BY source_seen DESC, responded_at DESC LIMIT 1)
                WHERE variant = '' AND (pinned = 1 OR fresh_until > ?)
                """
        )
        let hex = try String.fetchOne(newest, arguments: [key.uri, key.scopeText, db.now])
        return hex.flatMap(BlobDigest.init(hex:)).map(Freshness.cached) ?? .unknown
    }

    /// Whether a source's name identifies its content: bytes by digest, a drawing by its text.
    private static func isUnchanging(_ source: String) -> Bool {
        if DataURI.isDataURI(source) || Initials.isInitialsURI(source) { return true }
        if case .blob = CameoURI(source) { return true }
        return false
    }
}
