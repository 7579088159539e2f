internal import CameoFetch
package import CameoHTTPCache
package import CameoModel
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
