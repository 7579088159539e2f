package import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation

// DESIGN. The cache of originals, of which CameoHTTPCache decides what may be kept and served. Answers for different
// credentials are kept apart, because the scope is part of every key. An answer of an older fetch never replaces one of a
// newer (invariant I4): the condition is part of the upsert, whichever of two concurrent workers commits last. Keeping an
// answer evicts a few of the least recently used ones in the same transaction, so that the cache stays within its budget
// and no step takes long; those that another transaction is changing are passed over.

/// The maximum number of variants (Vary) kept per key.
private let variantsOfASource = 16
/// The maximum number of answers removed per step.
private let evictionStep = 16
/// The resolution of the time of last use, in milliseconds.
private let useInterval: Int64 = 60_000

extension QueueTransaction {
    /// The number of a fetch that begins now: higher than those of all that have begun.
    package func nextSourceSeen() throws -> Int64 {
        guard let next: Int64 = try value(dialect.nextFetch) else {
            throw StoreError.failed("the sequence source_seen is missing")
        }
        return next
    }

    /// Keeps an answer in place of an older one, and removes a failure remembered under its key.
    package func keep(_ source: CachedSource, _ blob: PreparedBlob, budget: Int?) throws -> KeptSource {
        try blob.insert(self)
        let ends: [(any SQLBindable)?] = [source.isPinned, try source.peers.stored, now, now]
        let count = try execute(
            """
            \(CachedSource.insertion)
            ON CONFLICT (\(dialect.key("uri")), scope, \(dialect.key("variant"))) DO UPDATE SET \(CachedSource.replacement)
            WHERE source.source_seen <= excluded.source_seen
            """,
            source.place + [blob.digest.hex, blob.size] + (try source.headValues) + ends
        )
        guard count == 1 else {
            // The bytes may already be stored; with a row, the next collection finds and removes them.
            try noteOrphan(blob.digest)
            return .superseded
        }
        try execute(
            "DELETE FROM source_failure WHERE \(dialect.sourceOfKey) AND source_seen <= ?3",
            [source.key.uri, source.key.scopeText, source.sourceSeen]
        )
        let look =
            "SELECT variant FROM source WHERE \(dialect.sourceOfKey) ORDER BY source_seen DESC LIMIT 1000 OFFSET ?3"
        let excess: [String] = try column(look, [source.key.uri, source.key.scopeText, variantsOfASource])
        for variant in excess {
            let place = [source.key.uri, source.key.scopeText, variant]
            try execute("DELETE FROM source WHERE \(dialect.oneSource)", place)
        }
        if let budget { _ = try evict(over: budget, atMost: evictionStep, sparing: source) }
        return .kept
    }

    /// Keeps uploaded bytes as the newest of their cache key, if there is one.
    package func hold(_ blob: PreparedBlob, under key: CacheKey?) throws {
        guard let key else { return try blob.insert(self) }
        let time = Date(milliseconds: now)
        // They have no server: every request for the key gets them.
        let source = CachedSource(
            key: SourceKey(uri: key.text, scope: nil),
            finalURL: key.uri,
            head: CacheableResponse(status: 200, requestTime: time, responseTime: time),
            mediaType: blob.mediaType,
            freshUntil: .distantFuture,
            blob: blob.digest,
            bytes: blob.size,
            sourceSeen: try nextSourceSeen(),
            peers: [],
            isPinned: true
        )
        _ = try keep(source, blob, budget: nil)
    }

    /// Removes up to `limit` least recently used answers while all exceed the budget, and returns whether they do not now.
    package func evict(over budget: Int, atMost limit: Int, sparing kept: CachedSource?) throws -> Bool {
        let total = try totals()["source_bytes"] ?? 0
        guard total > budget else { return true }
        let candidates = try query(
            """
            SELECT uri, scope, variant, size FROM source \(dialect.indexed(by: "source_use"))
            WHERE pinned = \(dialect.no) AND NOT (uri = ?1 AND scope = ?2 AND variant = ?3)
            ORDER BY last_used_at LIMIT ?4 \(dialect.skippingLocked)
            """,
            [kept?.key.uri ?? "", kept?.key.scopeText ?? "", kept?.variant ?? "", limit]
        )
        var (count, bytes) = (0, 0)
        for row in candidates where total - bytes > budget {
            let key: [String] = [try row["uri"], try row["scope"], try row["variant"]]
            try execute("DELETE FROM source WHERE \(dialect.oneSource)", key)
            count += 1
            bytes += try row["size"]
        }
        if count > 0 {
            try execute(dialect.additionToTotal, ["sources_evicted", count])
            try execute(dialect.additionToTotal, ["source_bytes_evicted", bytes])
        }
        return total - bytes <= budget || candidates.isEmpty
    }

    /// Removes source failures that have expired, the first to expire before others, and returns their number.
    func removeFailures(atMost limit: Int) throws -> Int {
        let expired = "FROM source_failure WHERE until <= ?1 ORDER BY until LIMIT ?2 \(dialect.skippingLocked)"
        return try execute("DELETE FROM source_failure WHERE \(dialect.isSourceFailure(expired))", [now, limit])
    }

    /// Removes everything cached for a source, but the beginnings of downloads.
    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) throws -> ForgottenSource {
        // `cameo://source/NAME` is the cached original of NAME.
        let uri = if case .source(let name) = CameoURI(uri) { name } else { uri }
        let sizes: [Int] = try column("DELETE FROM source WHERE \(dialect.sourceOfURI) RETURNING size", [uri])
        let failures = try execute("DELETE FROM source_failure WHERE \(dialect.sourceOfURI)", [uri])
        try execute("DELETE FROM set_aside WHERE source = ?1 AND thumbnail IS NULL", [uri])
        var (thumbnails, hadThumbnails) = (0, false)
        if case .originalsAndThumbnails = extent {
            // Thumbnails may also have been made from the cached original.
            for name in Set([uri, CameoURI.source(uri).text]) {
                let selector = ForgetSelector(.source(name))
                let receipt = try receipt(of: forget(selector), selector)
                thumbnails += receipt.thumbnails
                hadThumbnails = hadThumbnails || receipt.isKnown
            }
        }
        var forgotten = ForgottenSource(
            originals: sizes.count,
            failures: failures,
            thumbnails: thumbnails,
            bytes: sizes.reduce(0, +)
        )
        forgotten.hadThumbnails = hadThumbnails
        return forgotten
    }

    /// Selects the answers of a key by what follows FROM, the newest first.
    func sources(_ rest: String, _ key: SourceKey) throws -> [CachedSource] {
        try query(
            "SELECT \(CachedSource.columns) FROM \(rest) ORDER BY source_seen DESC, responded_at DESC",
            [key.uri, key.scopeText]
        )
        .map { try CachedSource($0, key: key) }
    }
}

extension QueueStore {
    package func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource] {
        try await read { db in try db.sources("source WHERE \(db.dialect.sourceOfKey)", key) }
    }

    package func freshen(_ source: CachedSource) async throws(StoreError) -> Bool {
        try await commit(.begun) { db in
            try db.execute(
                """
                UPDATE source SET \(CachedSource.change)
                WHERE \(db.dialect.oneSource) AND blob = ?4 AND source_seen <= ?5
                """,
                source.place + [source.blob.hex, source.sourceSeen] + (try source.headValues) + [db.now]
            ) == 1
        }
    }

    package func touch(_ source: CachedSource) async throws(StoreError) {
        let key = source.place
        let isDue = try await read { db in
            try db.value(
                "SELECT EXISTS (SELECT 1 FROM source WHERE \(db.dialect.oneSource) AND last_used_at < ?4)",
                key + [db.now - useInterval]
            ) ?? false
        }
        guard isDue else { return }
        try await commit(.begun) { db in
            _ = try db.execute(
                "UPDATE source SET last_used_at = ?5 WHERE \(db.dialect.oneSource) AND last_used_at < ?4",
                key + [db.now - useInterval, db.now]
            )
        }
    }

    package func dropCachedSource(_ source: CachedSource) async throws(StoreError) {
        try await commit(.begun) { db in
            _ = try db.execute(
                "DELETE FROM source WHERE \(db.dialect.oneSource) AND blob = ?4 AND source_seen <= ?5",
                source.place + [source.blob.hex, source.sourceSeen]
            )
        }
    }

    package func remember(
        _ failure: JobFailure,
        of key: SourceKey,
        until: Date,
        seen: Int64,
        peers: [Peer]
    ) async throws(StoreError) {
        try await commit(.begun) { db in
            let (dialect, now) = (db.dialect, db.now)
            try db.execute(
                """
                INSERT INTO source_failure(uri, scope, failure, since, until, source_seen, peers)
                SELECT ?1, ?2, \(dialect.json("?3")), CAST(?4 AS bigint), CAST(?5 AS bigint), CAST(?6 AS bigint),
                    \(dialect.json("?7"))
                  WHERE NOT EXISTS (SELECT 1 FROM source WHERE \(dialect.sourceOfKey) AND source_seen > ?6)
                ON CONFLICT (\(dialect.key("uri")), scope) DO UPDATE SET
                  failure = excluded.failure, since = excluded.since, until = excluded.until,
                  source_seen = excluded.source_seen, peers = excluded.peers
                WHERE excluded.source_seen >= source_failure.source_seen
                """,
                [key.uri, key.scopeText, try failure.stored, now, until.milliseconds, seen, try peers.stored]
            )
            // Each addition removes a few expired failures.
            _ = try db.removeFailures(atMost: evictionStep)
        }
    }

    package func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure? {
        try await read { db in
            let row = try db.row(
                "SELECT failure, since, until, peers FROM source_failure WHERE \(db.dialect.sourceOfKey) AND until > ?3",
                [key.uri, key.scopeText, db.now]
            )
            guard let row, let failure = try JobFailure.from(stored: row["failure"]) else { return nil }
            return RememberedFailure(
                failure,
                since: Date(milliseconds: try row["since"]),
                until: Date(milliseconds: try row["until"]),
                peers: try [Peer].from(stored: row["peers"])
            )
        }
    }
}

extension CachedSource {
    // What all statements about a row are made of: its columns, those after its key, and those of them that a 304 may change.
    private static let names = RecordKind.source.names
    private static let (own, heads) = (Array(names[3...]), Array(names[5...14]) + ["last_used_at"])
    fileprivate static let columns = names[2...].joined(separator: ", ")
    fileprivate static let insertion = names.insertion(into: "source")
    fileprivate static let replacement = own.replacement
    /// Changes the head, whose values begin with the sixth parameter.
    fileprivate static let change = heads.enumerated().map { "\($1) = ?\($0 + 6)" }.list

    fileprivate var place: [(any SQLBindable)?] { [key.uri, key.scopeText, variant] }

    fileprivate init(_ row: QueueRow, key: SourceKey) throws {
        guard let blob = BlobDigest(hex: try row["blob"] as String) else {
            throw StoreError.failed("the cached source \(SourceName.of(key.uri)) has a malformed row")
        }
        self.init(
            key: key,
            variant: try row["variant"],
            finalURL: try row["final_url"],
            head: CacheableResponse(
                status: try row["status"],
                fields: try JSONDecoder().decode(HTTPFields.self, from: Data((row["fields"] as String).utf8)),
                requestTime: Date(milliseconds: try row["requested_at"]),
                responseTime: Date(milliseconds: try row["responded_at"])
            ),
            redirects: try [CacheableResponse].from(stored: row["hops"]),
            mediaType: try row["media_type"],
            textEncoding: try row["text_encoding"],
            freshUntil: Date(milliseconds: try row["fresh_until"]),
            blob: blob,
            bytes: try row["size"],
            sourceSeen: try row["source_seen"],
            peers: try [Peer].from(stored: row["peers"]),
            isPinned: try row["pinned"]
        )
    }

    /// The values of the columns that a 304 may change, but the time of last use.
    fileprivate var headValues: [(any SQLBindable)?] {
        get throws {
            [
                finalURL, head.status, String(decoding: try JSONEncoder().encode(head.fields), as: UTF8.self),
                try redirects.stored, mediaType, textEncoding, head.requestTime.wholeMilliseconds,
                head.responseTime.wholeMilliseconds, freshUntil.wholeMilliseconds, sourceSeen,
            ]
        }
    }
}

extension Array where Element: Codable {
    package var stored: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    package static func from(stored text: String) throws -> Self {
        try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }
}

extension SourceKey {
    package var scopeText: String { scope?.text ?? "" }
}

extension Date {
    /// Rounded down, so that an answer that needs immediate revalidation is not fresh for half a millisecond.
    fileprivate var wholeMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded(.down)) }
}
