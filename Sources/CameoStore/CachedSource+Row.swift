internal import CameoModel
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
            status: row["status"],
            fields: try JSONDecoder().decode([Field].self, from: Data((row["fields"] as String).utf8)),
            hops: try JSONDecoder().decode([Hop].self, from: Data((row["hops"] as String).utf8)),
            mediaType: row["media_type"],
            textEncoding: row["text_encoding"],
            requestTime: Date(milliseconds: row["requested_at"]),
            responseTime: Date(milliseconds: row["responded_at"]),
            freshUntil: Date(milliseconds: row["fresh_until"]),
            blob: blob,
            bytes: row["size"],
            sourceSeen: row["source_seen"],
            isPinned: row["pinned"]
        )
    }

    /// Of what a 304 may change, in the order of the statements that write it.
    var headArguments: [(any DatabaseValueConvertible)?] {
        get throws {
            [
                finalURL, status, String(decoding: try JSONEncoder().encode(fields), as: UTF8.self),
                String(decoding: try JSONEncoder().encode(hops), as: UTF8.self), mediaType, textEncoding,
                requestTime.milliseconds, responseTime.milliseconds, freshUntil.milliseconds, sourceSeen,
            ]
        }
    }
}

extension SourceKey {
    /// The column's value.
    var scopeText: String { scope?.text ?? "" }
}
