internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// The store's source cache, as a reader of URLs uses it. Its trouble is told in words, for the `Cache-Status`.
struct SourceShelf: Sendable {
    /// What is there for a request.
    enum Look: Sendable {
        case kept(KeptAnswer)
        case nothing(CacheStatus.Reason, detail: String?)

        /// Why the server has to be asked, once it has.
        var reason: CacheStatus.Reason {
            switch self {
            case .kept: .stale
            case .nothing(let reason, _): reason
            }
        }

        var detail: String? {
            switch self {
            case .kept: nil
            case .nothing(_, let detail): detail
            }
        }
    }

    /// What became of an answer.
    enum Keeping: Sendable {
        case kept
        /// - detail: nil where the answer itself forbids it.
        case notKept(detail: String?)

        var isStored: Bool { if case .kept = self { true } else { false } }
        var detail: String? { if case .notKept(let detail) = self { detail } else { nil } }
    }

    let store: any Store
    let rules: ReadThrough

    func policy(for asked: CacheRequest) -> CachePolicy {
        CachePolicy(
            audience: asked.key.scope == nil ? .shared : .oneTenant,
            defaultLifetime: rules.defaultLifetime,
            staleIfError: rules.staleIfError
        )
    }

    /// The newest answer that is for this request; an older one never counts, also if it were fresh for longer (RFC 9111,
    /// section 4).
    func look(for asked: CacheRequest) async -> Look {
        do {
            let sources = try await store.cachedSources(asked.key)
            let matching = sources.first { source in
                Variant(text: source.variant)?.matches(asked.selecting, digest: digest) == true
            }
            guard let source = matching else {
                return .nothing(sources.isEmpty ? .missingURI : .missingVariant, detail: nil)
            }
            return try await bytes(of: source)
        } catch {
            return .nothing(.bypass, detail: error.description)
        }
    }

    private func bytes(of source: CachedSource) async throws(StoreError) -> Look {
        do throws(StoreError) {
            let data = try await store.data(of: source.blob)
            return .kept(KeptAnswer(source: source, data: data, detail: await touch(source)))
        } catch {
            switch error {
            case .damagedBlob:
                try await store.dropCachedSource(source)
                return .nothing(.missing, detail: error.description)
            // Evicted or forgotten meanwhile.
            case .notFound: return .nothing(.missing, detail: nil)
            default: throw error
            }
        }
    }

    /// - Returns: why its use could not be noted, which costs it its place sooner, but nobody an answer.
    private func touch(_ source: CachedSource) async -> String? {
        do throws(StoreError) {
            try await store.touch(source)
            return nil
        } catch {
            return error.description
        }
    }

    /// Orders the fetches of all processes (invariant I4).
    func nextNumber() async -> Result<Int64, StoreError> {
        do throws(StoreError) {
            return .success(try await store.nextSourceSeen())
        } catch {
            return .failure(error)
        }
    }

    /// Keeps what may be kept, and drops what it takes the place of.
    func keep(
        _ visit: HTTPVisit,
        _ asked: CacheRequest,
        replacing kept: KeptAnswer?,
        _ number: Result<Int64, StoreError>
    ) async -> Keeping {
        let (last, policy) = (visit.last, policy(for: asked))
        do throws(StoreError) {
            // Workers keep pictures, and so does this: whoever reads these rows may take them for one.
            guard last.head.status == 200, policy.storing(visit.chain, of: asked.selecting) == .allowed,
                let variant = Variant(of: visit.chain.map(\.fields), for: asked.selecting, digest: digest)
            else {
                // A picture that is gone, or that the origin wants forgotten, must not come back when the origin is away.
                if let kept, last.head.status < 500 { try await store.dropCachedSource(kept.source) }
                return .notKept(detail: nil)
            }
            guard last.body.count <= rules.maximumBytes else {
                return .notKept(detail: "\(last.body.count) bytes are more than \(rules.maximumBytes)")
            }
            let source = CachedSource(
                key: asked.key,
                variant: variant.text,
                finalURL: last.url.absoluteString,
                head: last.head.kept,
                redirects: visit.redirects.map(\.kept),
                mediaType: last.response.mimeType?.lowercased(),
                textEncoding: last.response.textEncodingName?.lowercased(),
                freshUntil: policy.freshUntil(of: visit.chain),
                blob: SHA256.digest(of: last.body),
                bytes: last.body.count,
                sourceSeen: try number.get(),
                peers: visit.peers
            )
            switch try await store.keep(source, data: last.body, budget: rules.budget) {
            case .kept: return .kept
            case .superseded: return .notKept(detail: "a newer answer is kept")
            case .tooLarge: return .notKept(detail: "\(last.body.count) bytes are more than the budget")
            }
        } catch {
            return .notKept(detail: error.description)
        }
    }

    /// Of a kept answer that a 304 has vouched for.
    ///
    /// `chain` ends with `head`, the kept answer's as the 304 leaves it.
    func freshen(
        _ kept: KeptAnswer,
        _ asked: CacheRequest,
        _ chain: [CacheableResponse],
        _ head: CacheableResponse,
        _ number: Result<Int64, StoreError>
    ) async -> Keeping {
        let policy = policy(for: asked)
        do throws(StoreError) {
            let variant = Variant(of: chain.map(\.fields), for: asked.selecting, digest: digest)
            guard policy.storing(chain, of: asked.selecting) == .allowed, variant?.text == kept.source.variant else {
                try await store.dropCachedSource(kept.source)
                return .notKept(detail: nil)
            }
            var source = kept.source
            (source.head, source.redirects) = (head.kept, chain.dropLast().map(\.kept))
            (source.freshUntil, source.sourceSeen) = (policy.freshUntil(of: chain), try number.get())
            // False: somebody replaced or forgot it meanwhile, and what they did stands.
            return try await store.freshen(source) ? .kept : .notKept(detail: nil)
        } catch {
            return .notKept(detail: error.description)
        }
    }

    /// Keeps what a request said, which may be a secret, out of the store; as the workers do.
    private func digest(_ text: String) -> String { SHA256.digest(of: Data(text.utf8)).hex }
}
