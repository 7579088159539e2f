internal import CameoFetch
package import CameoHTTPCache
package import CameoModel
internal import CameoRenderer
package import CameoStore
package import CameoSystem
package import Foundation
package import Logging

/// The source cache in the store. All workers of the store share it, and it outlives them.
package struct StoredAnswers: SourceCache {
    private let store: any WorkerStore & ReaderStore
    /// The maximum size in bytes of all cached answers together.
    private let budget: Int
    private let logger: Logger

    package init(store: any WorkerStore & ReaderStore, budget: Int, logger: Logger) {
        (self.store, self.budget, self.logger) = (store, budget, logger)
    }

    package func answers(for key: SourceKey) async -> [CachedSource] {
        await reported("cannot look into the source cache", key) { try await store.cachedSources(key) } ?? []
    }

    /// The bytes of an answer; nil if they cannot be read, are damaged, or are gone: another process may have evicted them
    /// after the look-up.
    package func bytes(of answer: CachedSource) async -> Data? {
        do throws(StoreError) {
            let data = try await store.data(of: answer.blob)
            await reported("cannot note the use of a cached source", answer.key) { try await store.touch(answer) }
            return data
        } catch {
            switch error {
            case .notFound: break
            case .damagedBlob: warn("dropped a cached source that is damaged", answer.key, error)
            default:
                warn("cannot read a cached source", answer.key, error)
                return nil
            }
            await drop(answer)
            return nil
        }
    }

    package func keep(_ answer: CachedSource, bytes: Data) async {
        await reported("cannot keep a source in the cache", answer.key) {
            guard try await store.keep(answer, data: bytes, budget: budget) == .tooLarge else { return }
            // The new answer would have replaced the older ones, which are out of date now.
            for old in try await store.cachedSources(answer.key) where old.variant == answer.variant {
                try await store.dropCachedSource(old)
            }
        }
    }

    package func freshen(_ answer: CachedSource) async {
        await reported("cannot freshen a cached source", answer.key) {
            // False if another process has dropped or replaced the answer meanwhile, which then takes precedence.
            _ = try await store.freshen(answer)
        }
    }

    package func drop(_ answer: CachedSource) async {
        await reported("cannot drop a cached source", answer.key) { try await store.dropCachedSource(answer) }
    }

    package func keepPartial(_ partial: PartialResponse, bytes: Data, of key: SourceKey) async {
        await reported("cannot keep the beginning of a source", key) {
            try await store.keepPartial(partial, bytes: bytes, of: key)
        }
    }

    package func partial(of key: SourceKey) async -> (PartialResponse, OpenFile)? {
        await reported("cannot read the beginning of a source", key) { try await store.partial(of: key) } ?? nil
    }

    package func dropPartial(of key: SourceKey) async {
        await reported("cannot remove the beginning of a source", key) { try await store.dropPartial(of: key) }
    }

    package func remember(_ failure: JobFailure, of key: SourceKey, until: Date, number: Int64, peers: [Peer]) async {
        await reported("cannot remember a source's failure", key) {
            try await store.remember(failure, of: key, until: until, seen: number, peers: peers)
        }
    }

    package func rememberedFailure(of key: SourceKey) async -> RememberedFailure? {
        await reported("cannot look into the source cache", key) { try await store.rememberedFailure(of: key) } ?? nil
    }

    /// Logs an error instead of throwing it: trouble with the cache costs a download, never a job.
    @discardableResult
    private func reported<Value: Sendable>(
        _ what: Logger.Message,
        _ key: SourceKey,
        _ body: () async throws -> Value
    ) async -> Value? {
        do {
            return try await body()
        } catch {
            warn(what, key, error)
            return nil
        }
    }

    private func warn(_ what: Logger.Message, _ key: SourceKey, _ error: any Error) {
        logger.warning(what, metadata: ["source": "\(SourceName.of(key.uri))", "reason": "\(error)"])
    }
}

/// The source and the overlays of a request, as they were fetched.
struct FetchedPictures: Sendable {
    /// The URI of the source, as it was requested.
    let uri: String
    let source: FetchedSource
    /// The overlays, in the order of `ThumbnailRequest.overlaySources`.
    let overlays: [FetchedOverlay]

    /// The number of bytes that were fetched so far.
    var bytes: Int { overlays.reduce(source.parts?.loadedBytes ?? source.bytes) { $0 + $1.file.bytes } }

    /// The number of the oldest fetch or revalidation that brought any of these files. It may be another job's, from before
    /// or after this job's own number, which counts for files that came from neither a cache nor the network.
    func sourceSeen(_ ticket: FetchTicket) -> Int64 {
        overlays.reduce(source.sourceSeen ?? ticket.number) { min($0, $1.file.sourceSeen ?? ticket.number) }
    }

    /// The files that came from the cache although they were no longer fresh.
    var stale: [(uri: String, age: Duration, trouble: String)] {
        ([(uri, source)] + overlays.map { ($0.uri, $0.file) }).compactMap { uri, file in
            guard case .stale(let age, let trouble) = file.arrival else { return nil }
            return (uri, age, trouble)
        }
    }

    /// The digest of the overlay that a rendition draws; nil if it draws none.
    func overlayDigest(of rendition: Rendition) -> BlobDigest? {
        guard let uri = rendition.look.overlay?.source else { return nil }
        return overlays.first { $0.uri == uri }?.file.digest
    }

    /// `source.changed` for the first file that changed after it was opened; nil if none did.
    func changeSinceOpened() -> JobFailure? {
        source.changeSinceOpened() ?? overlays.lazy.compactMap { $0.file.changeSinceOpened()?.ofOverlay }.first
    }
}

struct FetchedOverlay: Sendable {
    /// The overlay's URI, as the renditions name it.
    let uri: String
    let file: FetchedSource

    var forRenderer: RenderOverlay { (source: uri, file: file.file, kind: file.kind) }
}

extension JobFailure {
    /// This failure, with a message that says that it concerns an overlay. Messages of the fetcher name what was fetched, but
    /// not its purpose.
    var ofOverlay: JobFailure {
        saying("the overlay cannot be used: \(message)")
    }
}
