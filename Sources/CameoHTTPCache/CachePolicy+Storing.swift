extension CachePolicy {
    package enum Storing: Hashable, Sendable {
        case allowed
        case refused(Refusal)
    }

    /// Why an answer must not be kept.
    package enum Refusal: String, Hashable, Sendable {
        /// 1xx, or no status of HTTP's.
        case notFinal
        /// 206: bodies are kept whole.
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
        /// The request had what may be credentials, and nothing opens the answer to a shared cache.
        case authorized
        /// `Vary: *`, or a `Vary` that cannot be followed: no later request would match.
        case variesOnEverything
        /// Neither a lifetime nor `public`, and a status that says nothing for itself.
        case nothingAllowsIt
    }

    /// Whether the answer to a GET may be kept (sections 3, 3.5, 5.2.2.3).
    package func storing(_ response: CacheableResponse, of request: HTTPFields) -> Storing {
        refusal(of: response, to: request).map(Storing.refused) ?? .allowed
    }

    private func refusal(of response: CacheableResponse, to request: HTTPFields) -> Refusal? {
        let said = CacheDirectives(of: response.fields)
        switch response.status {
        case 200...599 where response.status != 206 && response.status != 304: break
        case 206: return .partial
        case 304: return .notModified
        default: return .notFinal
        }
        if said.contains(.mustUnderstand), !response.isUnderstood { return .notUnderstood }
        if said.contains(.noStore), !said.permits(.mustUnderstand) { return .noStore }
        if CacheDirectives(of: request).contains(.noStore) { return .noStoreRequested }
        if audience == .shared {
            if said.contains(.private) { return .isPrivate }
            let isOpen = said.permits(.public) || said.contains(.mustRevalidate) || said.contains(.sMaxAge)
            if request.mayHaveCredentials, !isOpen { return .authorized }
        }
        if VaryingFields(of: [response.fields]) == nil { return .variesOnEverything }
        return isWorthKeeping(response, said) ? nil : .nothingAllowsIt
    }

    /// The last item of section 3's list.
    private func isWorthKeeping(_ response: CacheableResponse, _ said: CacheDirectives) -> Bool {
        said.permits(.public)
            || said.contains(.private)  // which a shared cache has refused by now
            || said.contains(.maxAge)
            || (said.contains(.sMaxAge) && audience == .shared)
            || response.fields["Expires"] != nil
            || response.isHeuristicallyCacheable
            || injectedLifetime(of: response, said) != nil
    }
}
