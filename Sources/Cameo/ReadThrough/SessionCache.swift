internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// The store's source cache, as sessions use it. Errors of the store never fail a load: they are returned as text for
/// `Cache-Status`.
struct SessionCache: Sendable {
    /// The result of changes to the cache.
    struct Result: Sendable {
        /// Whether the response is stored.
        var isStored = false
        /// The store's error, or why the response is not stored.
        var detail: String?
    }

    let store: any Store
    let memory: BlobMemory
    let rules: ReadThrough

    /// The responses stored for a request, of all variants, the newest first.
    func answers(for request: SessionRequest) async throws(StoreError) -> [CachedSource] {
        let question = request.question
        return question.use == .bypass ? [] : try await store.cachedSources(question.key)
    }

    /// Reads a stored body and records its use. A damaged one is dropped.
    ///
    /// - Returns: the body, if it can be read, whether it was in memory, and the store's error. The body is also returned
    ///   if its use could not be recorded; it is then only evicted sooner.
    func bytes(of source: CachedSource) async -> (data: Data?, isFromMemory: Bool, detail: String?) {
        var (data, isFromMemory): (Data?, Bool) = (nil, false)
        do throws(StoreError) {
            (data, isFromMemory) = try await store.data(of: source.blob, through: memory)
            try await store.touch(source)
            return (data, isFromMemory, nil)
        } catch {
            switch error {
            case .notFound where data == nil: return (nil, false, nil)  // evicted or forgotten meanwhile
            case .damagedBlob: return (nil, false, await drop([source]) ?? error.description)
            default: return (data, isFromMemory, error.description)
            }
        }
    }

    /// Makes the changes. `body` is that of the received response, which supersedes `old` ones.
    func make(_ changes: [CacheChange], _ body: Data, superseding old: [CachedSource]) async -> Result {
        var result = Result()
        for change in changes {
            do throws(StoreError) {
                switch change {
                case .store(let source): result = try await keep(source, body, superseding: old)
                // False if another process has replaced or removed it, which takes precedence.
                case .freshen(let source): result.isStored = try await store.freshen(source)
                case .drop(let source): try await store.dropCachedSource(source)
                case .invalidate(let uri): _ = try await store.forgetSource(uri, .originals)
                }
            } catch {
                result.detail = error.description
            }
        }
        return result
    }

    private func keep(
        _ source: CachedSource,
        _ body: Data,
        superseding old: [CachedSource]
    ) async throws(StoreError) -> Result {
        if body.count <= rules.maximumBytes {
            switch try await store.keep(source, data: body, budget: rules.budget) {
            case .kept:
                memory.hold(body, as: source.blob)
                return Result(isStored: true)
            case .superseded: return Result(detail: "a newer response is stored")
            case .tooLarge: break
            }
        }
        // Older responses are superseded all the same.
        let limit = body.count <= rules.maximumBytes ? "the budget" : "\(rules.maximumBytes)"
        return Result(detail: await drop(old) ?? "\(body.count) bytes are more than \(limit)")
    }

    /// - Returns: the store's error.
    private func drop(_ sources: [CachedSource]) async -> String? {
        await make(sources.map(CacheChange.drop), Data(), superseding: []).detail
    }
}
