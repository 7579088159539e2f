internal import CameoModel
internal import CameoStore
internal import GRDB

extension SQLiteStore {
    static func freshness(of request: ThumbnailRequest, now: Int64, _ db: Database) throws -> Freshness {
        // Nobody remembers of which bytes an overlay was: one that may change has to be looked at.
        guard request.overlaySources.allSatisfy(isUnchanging) else { return .unknown }
        if isUnchanging(request.source) { return .unchanging }
        var key = SourceKey(uri: request.source, scope: RequestScope(headers: request.headers))
        if case .source(let uri) = CameoURI(request.source) { key = SourceKey(uri: uri, scope: nil) }
        // Of an answer that varies, only the fetcher can tell for whom it is.
        let newest = try db.cachedStatement(
            sql: """
                SELECT blob FROM (
                  SELECT * FROM source WHERE uri = ? AND scope = ? ORDER BY source_seen DESC, responded_at DESC LIMIT 1)
                WHERE variant = '' AND (pinned = 1 OR fresh_until > ?)
                """
        )
        let hex = try String.fetchOne(newest, arguments: [key.uri, key.scopeText, now])
        return hex.flatMap(BlobDigest.init(hex:)).map(Freshness.cached) ?? .unknown
    }

    /// Whether a source is named by what it is: bytes by their digest, a drawing by its text.
    private static func isUnchanging(_ source: String) -> Bool {
        if DataURI.isDataURI(source) || Initials.isInitialsURI(source) { return true }
        if case .blob = CameoURI(source) { return true }
        return false
    }
}
