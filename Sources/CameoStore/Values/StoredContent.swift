internal import CameoHTTPCache
package import CameoModel
package import Foundation

/// What a `cameo:` name refers to at one moment, before its bytes are read.
package struct StoredContent: Hashable, Sendable {
    /// How long the name is guaranteed to refer to these bytes.
    package enum Freshness: Hashable, Sendable {
        case forever
        /// Other bytes may replace them at any time, so clients must revalidate, which reads one row and no bytes.
        case unknown
        /// The bytes are fresh until this time; after that, the origin must be asked again.
        case until(Date)
    }

    package let digest: BlobDigest
    /// The recorded media type; if nil, the first bytes determine it.
    package internal(set) var mediaType: String?
    /// The character encoding that the origin declared for a text.
    package internal(set) var textEncoding: String?
    package let freshness: Freshness
    /// When the name began to refer to these bytes; nil if unknown.
    package internal(set) var modifiedAt: Date?

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

    /// The value of `Content-Type`. A picture's first bytes (about a thousand suffice) override its recorded media
    /// type.
    package func contentType(of start: Data) -> String {
        if let format = PictureFormat(sniffing: start) { return format.mediaType }
        guard let mediaType else { return MediaType.unknown }
        return textEncoding.map { "\(mediaType); charset=\($0)" } ?? mediaType
    }
}

extension StoredContent {
    package init(thumbnail digest: BlobDigest, _ format: Rendition.Format?, updatedAt: Date) {
        self.init(digest: digest, mediaType: format?.mediaType, freshness: .unknown, modifiedAt: updatedAt)
    }
}

extension ReaderStore {
    /// What a thumbnail's name refers to, which is recorded as a read; nil if it has not been made yet.
    package func made(_ id: ThumbnailID) async throws(StoreError) -> StoredContent? {
        do throws(StoreError) {
            var content = contentAtOnce(of: id)
            if content == nil {
                let thumbnail = try await thumbnail(id)
                content = StoredContent(thumbnail: thumbnail.blob, thumbnail.format, updatedAt: thumbnail.updatedAt)
            }
            noteReading(of: .thumbnail(id))
            return content
        } catch .notFound {
            return nil
        }
    }

    /// Looks up what a name refers to, and records a read even if the reader already has the bytes; of a blob, if it is used.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    package func content(of uri: CameoURI, isUsed: Bool = true) async throws(StoreError) -> StoredContent {
        switch uri {
        case .thumbnail(let id):
            guard let content = try await made(id) else { throw .notFound(uri: uri.text) }
            return content
        case .blob(let digest):
            let mediaType = try await mediaType(of: digest)
            if isUsed { noteReading(of: uri) }
            return StoredContent(digest: digest, mediaType: mediaType, freshness: .forever)
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

    /// Does the same as ``content(of:)``, but waits up to `patience` for content that does not exist yet.
    package func content(
        of uri: CameoURI,
        within patience: Duration,
        by changes: StoreChanges
    ) async throws -> StoredContent {
        guard patience > .zero else { return try await content(of: uri) }
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

    /// The WebVTT file of a storyboard; nil if the URI is of something else.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if the thumbnail has not been made yet.
    package func webVTT(of uri: CameoURI, sheet: String) async throws(StoreError) -> String? {
        guard case .thumbnail(let id) = uri else { return nil }
        return try await thumbnail(id).webVTT(sheet: sheet)
    }
}
