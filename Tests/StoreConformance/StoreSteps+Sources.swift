package import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation

extension StoreSteps {
    package static var uri: String { "https://example.com/a.png" }

    package static func scope(_ token: String) -> RequestScope? { RequestScope(headers: ["Authorization": token]) }

    package static var peers: [Peer] {
        [
            Peer(origin: "https://example.com:443", .address("8.8.8.8")),
            Peer(origin: "https://example.net:443", .proxy),
            Peer(origin: "http://[::1]:80", .program),
        ]
    }

    package static func original(
        _ bytes: Data,
        uri: String = uri,
        scope: RequestScope? = nil,
        variant: String = "",
        seen: Int64 = 1,
        isPinned: Bool = false,
        etag: String = "\"1\"",
        peers: [Peer] = peers
    ) -> CachedSource {
        let time = Date(timeIntervalSince1970: 1_900_000_000)
        return CachedSource(
            key: SourceKey(uri: uri, scope: scope),
            variant: variant,
            finalURL: "\(uri)?final",
            head: CacheableResponse(
                status: 200,
                fields: HTTPFields([.init(name: "ETag", value: etag), .init(name: "Vary", value: "Accept")]),
                requestTime: time,
                responseTime: time + 0.5
            ),
            redirects: [CacheableResponse(status: 302, requestTime: time, responseTime: time + 0.25)],
            mediaType: "image/png",
            textEncoding: "utf-8",
            freshUntil: time + 60,
            blob: BlobDigest(of: bytes),
            bytes: bytes.count,
            sourceSeen: seen,
            peers: isPinned ? [] : peers,
            isPinned: isPinned
        )
    }

    /// Keeps an answer whose bytes depend on the letter.
    @discardableResult
    package func keep(
        _ letter: Character,
        count: Int = 10,
        uri: String? = nil,
        scope: RequestScope? = nil,
        variant: String = "",
        seen: Int64 = 1,
        isPinned: Bool = false,
        budget: Int? = nil
    ) async throws -> KeptSource {
        let bytes = Self.bytes(letter, count)
        let source = Self.original(
            bytes,
            uri: uri ?? "https://example.com/\(letter)",
            scope: scope,
            variant: variant,
            seen: seen,
            isPinned: isPinned
        )
        return try await faces.keep(source, data: bytes, budget: budget)
    }

    package static func bytes(_ letter: Character, _ count: Int = 10) -> Data {
        Data(String(repeating: letter, count: count).utf8)
    }

    /// The letters of the cached originals.
    func keptLetters(of letters: String) async throws -> String {
        var kept = ""
        for letter in letters {
            let key = SourceKey(uri: "https://example.com/\(letter)", scope: nil)
            if try await !faces.cachedSources(key).isEmpty { kept.append(letter) }
        }
        return kept
    }
}
