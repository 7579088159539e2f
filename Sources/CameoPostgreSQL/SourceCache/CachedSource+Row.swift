internal import CameoHTTPCache
internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

extension CachedSource {
    /// The columns of a row, in the order in which ``init(row:key:)`` reads them.
    static let columns = """
        variant, final_url, status, fields, requested_at, responded_at, hops, media_type, text_encoding, fresh_until, blob, \
        size, source_seen, peers, pinned
        """

    init(row: Row, key: SourceKey) throws {
        guard let blob = BlobDigest(hex: try row[10] as String) else {
            throw StoreError.failed("the cached source \(SourceName.of(key.uri)) has a malformed row")
        }
        try self.init(
            key: key,
            variant: row[0],
            finalURL: row[1],
            head: CacheableResponse(
                status: row[2],
                fields: JSONDecoder().decode(HTTPFields.self, from: Data((row[3] as String).utf8)),
                requestTime: Date(milliseconds: row[4]),
                responseTime: Date(milliseconds: row[5])
            ),
            redirects: [CacheableResponse].from(stored: row[6]),
            mediaType: row[7],
            textEncoding: row[8],
            freshUntil: Date(milliseconds: row[9]),
            blob: blob,
            bytes: row[11],
            sourceSeen: row[12],
            peers: [Peer].from(stored: row[13]),
            isPinned: row[14]
        )
    }

    /// The values of the columns that a 304 may change, in the order of the statements that write them.
    var headValues: [(any SQLBindable)?] {
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
    var stored: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    static func from(stored text: String) throws -> Self {
        try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }
}

extension SourceKey {
    var scopeText: String { scope?.text ?? "" }
}

extension Date {
    /// Rounded down, so that an answer that needs immediate revalidation is not fresh for half a millisecond.
    fileprivate var wholeMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded(.down)) }
}
