internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

extension CachedSource {
    init(row: Row, key: SourceKey) throws {
        guard let blob = BlobDigest(hex: row["blob"] as String) else {
            throw StoreError.failed("the cached source \(SourceName.of(key.uri)) has a malformed row")
        }
        self.init(
            key: key,
            variant: row["variant"],
            finalURL: row["final_url"],
            head: CacheableResponse(
                status: row["status"],
                fields: try JSONDecoder().decode(HTTPFields.self, from: Data((row["fields"] as String).utf8)),
                requestTime: Date(milliseconds: row["requested_at"]),
                responseTime: Date(milliseconds: row["responded_at"])
            ),
            redirects: try [CacheableResponse].from(stored: row["hops"]),
            mediaType: row["media_type"],
            textEncoding: row["text_encoding"],
            freshUntil: Date(milliseconds: row["fresh_until"]),
            blob: blob,
            bytes: row["size"],
            sourceSeen: row["source_seen"],
            peers: try [Peer].from(stored: row["peers"]),
            isPinned: row["pinned"]
        )
    }

    /// The arguments for columns that a 304 may change, in the order of the statements that write them.
    var headArguments: [(any DatabaseValueConvertible)?] {
        get throws {
            [
                finalURL, head.status, String(decoding: try JSONEncoder().encode(head.fields), as: UTF8.self),
                try redirects.stored, mediaType, textEncoding,
                head.requestTime.wholeMilliseconds, head.responseTime.wholeMilliseconds, freshUntil.wholeMilliseconds,
                sourceSeen,
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
