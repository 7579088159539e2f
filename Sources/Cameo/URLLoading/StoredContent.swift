internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// The content that currently has a name; its bytes have not been read yet.
struct StoredContent: Sendable {
    /// How long the name is guaranteed to refer to these bytes.
    enum Freshness: Hashable, Sendable {
        case forever
        /// Other bytes may replace them at any time, so clients must validate, which costs one row and no bytes.
        case unknown
        /// Until the origin has to be asked again.
        case until(Date)
    }

    let digest: BlobDigest
    /// The media type; nil if only the first bytes can tell.
    let mediaType: String?
    /// The encoding of a text, as declared by its origin.
    let textEncoding: String?
    let freshness: Freshness

    /// A strong validator (RFC 9110, section 8.8.3): equal digests mean equal bytes.
    var entityTag: String { "\"\(digest)\"" }

    var cacheControl: String {
        switch freshness {
        case .forever: return "max-age=31536000, immutable"
        case .unknown: return "no-cache"
        case .until(let end):
            let seconds = min(end.timeIntervalSinceNow.rounded(.down), 31_536_000)
            return seconds > 0 ? "max-age=\(Int(seconds))" : "no-cache"
        }
    }

    /// The first bytes of a picture take precedence over its declared type.
    func contentType(of data: Data) -> String {
        if let format = PictureFormat(sniffing: data) { return format.mediaType }
        guard let mediaType else { return MediaType.unknown }
        return textEncoding.map { "\(mediaType); charset=\($0)" } ?? mediaType
    }
}

extension Client {
    /// The content for a reader. The reading is recorded even if the reader already has the bytes.
    func content(of uri: CameoURI) async throws(StoreError) -> StoredContent {
        let content = try await contentNow(of: uri)
        store.noteReading(of: uri)
        return content
    }

    private func contentNow(of uri: CameoURI) async throws(StoreError) -> StoredContent {
        switch uri {
        case .thumbnail(let id):
            let thumbnail = try await store.thumbnail(id)
            return StoredContent(
                digest: thumbnail.blob,
                mediaType: thumbnail.format.mediaType,
                textEncoding: nil,
                freshness: .unknown
            )
        case .blob(let digest):
            return StoredContent(
                digest: digest,
                mediaType: try await store.mediaType(of: digest),
                textEncoding: nil,
                freshness: .forever
            )
        case .source(let name):
            let source = try await store.cachedSource(name)
            return StoredContent(
                digest: source.blob,
                mediaType: source.mediaType.flatMap { MediaType.isWellFormed($0) ? $0 : nil },
                textEncoding: source.textEncoding.flatMap { MediaType.isToken($0) ? $0 : nil },
                freshness: source.isPinned ? .unknown : .until(source.freshUntil)
            )
        }
    }

    /// Like ``content(of:)``, but waits up to the given number of seconds for content that does not exist yet.
    func content(of uri: CameoURI, waiting seconds: Double) async throws -> StoredContent {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let version = try await changes.current()
            do throws(StoreError) {
                return try await content(of: uri)
            } catch {
                guard case .notFound = error, try await isChanged(after: version, before: deadline) else { throw error }
            }
        }
    }

    private func isChanged(after version: Int, before deadline: ContinuousClock.Instant) async throws -> Bool {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return false }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            let changes = changes
            group.addTask {
                _ = try await changes.next(after: version)
                return true
            }
            group.addTask {
                try await Task.sleep(for: left)
                return false
            }
            return try await group.next() ?? false
        }
    }
}
