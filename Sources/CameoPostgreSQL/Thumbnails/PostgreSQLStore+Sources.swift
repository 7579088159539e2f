package import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import CameoSystem
package import Foundation

// DESIGN. The beginnings of broken downloads are in tables without a write-ahead log: they may be lost at any time, as after
// a crash of the server, and cost a longer download then. So a download that broke off at one worker goes on at another.
// They have a limit, each of them and all together, and are removed after an hour.
extension PostgreSQLStore {
    /// The maximum sizes of one beginning and of all together, in bytes.
    static let partialBytes = (one: 67_108_864, all: 536_870_912)
    /// The size of a row of a beginning.
    private static let pieceBytes = 4_194_304

    package func keepPartial(_ partial: PartialResponse, bytes: Data, of key: SourceKey) async throws(StoreError) {
        guard bytes.count <= Self.partialBytes.one else { return }
        let names = [Self.partialName(of: key.uri), key.scopeText]
        // Apart, because others would wait while it is sent.
        try await transaction { db in
            let head = String(decoding: try JSONEncoder().encode(partial), as: UTF8.self)
            try db.execute(
                """
                DELETE FROM partial WHERE (uri, scope) IN (
                  SELECT uri, scope FROM (
                    SELECT uri, scope, sum(size) OVER (ORDER BY at DESC, uri, scope) AS bytes FROM partial) AS newest
                  WHERE bytes > $3 OR (uri, scope) = ($1, $2))
                """,
                names + [Self.partialBytes.all - bytes.count]
            )
            // Another worker may be keeping the same.
            let insertion =
                "INSERT INTO partial(uri, scope, head, size, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
            guard try db.execute(insertion, names + [head, bytes.count, db.now]) == 1 else { return }
            for (number, start) in stride(from: 0, to: bytes.count, by: Self.pieceBytes).enumerated() {
                let piece = bytes.dropFirst(start).prefix(Self.pieceBytes)
                try db.execute(
                    "INSERT INTO partial_piece(uri, scope, number, bytes) VALUES ($1, $2, $3, $4)",
                    names + [number, Data(piece)]
                )
            }
        }
    }

    package func partial(of key: SourceKey) async throws(StoreError) -> (PartialResponse, OpenFile)? {
        try await read { db in
            let rows = try db.query(
                """
                SELECT head, bytes FROM partial LEFT JOIN partial_piece USING (uri, scope)
                WHERE uri = $1 AND scope = $2 ORDER BY number
                """,
                [Self.partialName(of: key.uri), key.scopeText]
            )
            guard let first = rows.first else { return nil }
            let partial = try JSONDecoder().decode(PartialResponse.self, from: Data(try (first["head"] as String).utf8))
            let bytes = try rows.reduce(into: Data()) { bytes, row in bytes.append(try row["bytes"] as Data? ?? Data())
            }
            guard bytes.count == partial.count else { return nil }
            let file = try OpenFile.memory(containing: bytes)
            guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
            return (partial, file)
        }
    }

    package func dropPartial(of key: SourceKey) async throws(StoreError) {
        try await commit { db in
            _ = try db.execute(
                "DELETE FROM partial WHERE uri = $1 AND scope = $2",
                [Self.partialName(of: key.uri), key.scopeText]
            )
        }
    }

    /// A URI's name in the tables: it may be too long for an index.
    static func partialName(of uri: String) -> String { BlobDigest(of: Data(uri.utf8)).hex }

    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        let forgotten = try await commit { db in
            try db.execute("DELETE FROM partial WHERE uri = $1", [Self.partialName(of: uri)])
            return try db.forgetSource(uri, extent)
        }
        try await endForgottenJobs()
        return forgotten
    }
}
