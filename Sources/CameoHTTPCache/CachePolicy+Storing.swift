extension CachePolicy {
    package enum Storing: Hashable, Sendable {
        case allowed
        case refused(Refusal)
    }

    /// Why an answer must not be kept.
    package enum Refusal: String, Hashable, Sendable {
        /// 1xx, or no status of HTTP's.
        case notFinal
        /// 206, or an answer with a `Content-Range`: bodies are kept whole.
        case partial
        /// 304: updates an answer, and is none.
        case notModified
        /// `must-understand`, and this cache does not know what the status asks of it.
        case notUnderstood
        /// `no-store` in the answer.
        case noStore
        /// `no-store` in the request.
        case noStoreRequested
        /// `private`, and the cache is shared.
        case isPrivate
        /// The request had credentials, and nothing opens the answer to a shared cache.
        case authorized
        /// `Vary: *`, or a `Vary` that cannot be followed: no later request would match.
        case variesOnEverything
        /// Neither a lifetime nor `public`, and a status that says nothing for itself.
        case nothingAllowsIt
    }

    /// Whether the answer to a GET may be kept (sections 3, 3.5, 5.2.2.3).
    package func storing(_ response: CacheableResponse, of request: HTTPFields) -> Storing {
        .refused(.nothingAllowsIt)
    }
}
