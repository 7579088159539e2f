internal import CameoModel
internal import CameoStore
internal import Foundation

/// What a name stands for at one moment, before its bytes are read.
struct StoredContent: Sendable {
    let digest: BlobDigest
    /// Nil: its first bytes have to tell.
    let mediaType: String?
    /// Whether the name never stands for anything else.
    let isImmutable: Bool

    /// A strong validator (RFC 9110, section 8.8.3): same digest, same bytes.
    var entityTag: String { "\"\(digest)\"" }

    /// A thumbnail may be made anew, so its bytes are asked for again; which costs a look at one row and no bytes.
    var cacheControl: String { isImmutable ? "max-age=31536000, immutable" : "no-cache" }
}

extension Client {
    func content(of uri: CameoModel.CameoURI) async throws(StoreError) -> StoredContent {
        switch uri {
        case .thumbnail(let id):
            let thumbnail = try await store.thumbnail(id)
            return StoredContent(
                digest: thumbnail.blob,
                mediaType: thumbnail.format.mediaType,
                isImmutable: false
            )
        case .blob(let digest):
            return StoredContent(
                digest: digest,
                mediaType: try await store.mediaType(of: digest),
                isImmutable: true
            )
        case .source:
            throw .notFound(uri: uri.text)
        }
    }

    /// As ``content(of:)``, and waits for what is not there yet, so many seconds at most.
    func content(of uri: CameoModel.CameoURI, waiting seconds: Double) async throws -> StoredContent {
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
