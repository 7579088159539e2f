internal import CameoHTTPCache
package import CameoModel
package import Foundation

/// What a name stands for at one moment, before its bytes are read.
package struct StoredContent: Hashable, Sendable {
    /// For how long the name is sure to stand for these bytes.
    package enum Freshness: Hashable, Sendable {
        case forever
        /// Other bytes may replace them at any time, so clients must validate, which costs one row and no bytes.
        case unknown
        /// Until the origin has to be asked again.
        case until(Date)
    }

    package let digest: BlobDigest
    /// Nil: its first bytes have to tell.
    package let mediaType: String?
    /// Of a text, as its origin named it.
    package let textEncoding: String?
    package let freshness: Freshness
    /// When the name began to stand for them; nil where nobody knows.
    package let modifiedAt: Date?

    /// A strong validator (RFC 9110, section 8.8.3): same digest, same bytes.
    package var entityTag: String { "\"\(digest)\"" }

    package var cacheControl: String {
        switch freshness {
        case .forever: return "max-age=31536000, immutable"
        case .unknown: return "no-cache"
        case .until(let end):
            let seconds = min(end.timeIntervalSinceNow.rounded(.down), 31_536_000)
            return seconds > 0 ? "max-age=\(Int(seconds))" : "no-cache"
        }
    }

    /// By the first bytes, some thousand at the most. A picture's own are believed, whatever it was called.
    package func contentType(of start: Data) -> String {
        if let format = PictureFormat(sniffing: start) { return format.mediaType }
        guard let mediaType else { return MediaType.unknown }
        return textEncoding.map { "\(mediaType); charset=\($0)" } ?? mediaType
    }
}

extension ReaderStore where Self: BlobStore & SourceStore {
    /// What a reader is told, who is counted as one also when it has the bytes already.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    package func content(of uri: CameoURI) async throws(StoreError) -> StoredContent {
        let content = try await contentNow(of: uri)
        noteReading(of: uri)
        return content
    }

    private func contentNow(of uri: CameoURI) async throws(StoreError) -> StoredContent {
        switch uri {
        case .thumbnail(let id):
            let thumbnail = try await thumbnail(id)
            return StoredContent(
                digest: thumbnail.blob,
                mediaType: thumbnail.format.mediaType,
                textEncoding: nil,
                freshness: .unknown,
                modifiedAt: thumbnail.updatedAt
            )
        case .blob(let digest):
            return StoredContent(
                digest: digest,
                mediaType: try await mediaType(of: digest),
                textEncoding: nil,
                freshness: .forever,
                modifiedAt: nil
            )
        case .source(let name):
            let source = try await cachedSource(name)
            return StoredContent(
                digest: source.blob,
                mediaType: source.mediaType.flatMap { MediaType.isWellFormed($0) ? $0 : nil },
                textEncoding: source.textEncoding.flatMap { MediaType.isToken($0) ? $0 : nil },
                freshness: source.isPinned ? .unknown : .until(source.freshUntil),
                modifiedAt: source.head.lastModified
            )
        }
    }

    /// As ``content(of:)``, and waits for what is not there yet, for so long at most.
    package func content(
        of uri: CameoURI,
        within patience: Duration,
        by changes: StoreChanges
    ) async throws -> StoredContent {
        let found = try await changes.first(within: patience) { () async throws(StoreError) -> StoredContent? in
            do throws(StoreError) {
                return try await content(of: uri)
            } catch .notFound {
                return nil
            }
        }
        guard let found else { throw StoreError.notFound(uri: uri.text) }
        return found
    }
}
