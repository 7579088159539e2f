extension CachePolicy {
    package enum Storing: Hashable, Sendable {
        case allowed
        case refused(Refusal)
    }

    /// Why a response must not be stored.
    package enum Refusal: String, Hashable, Sendable {
        /// The status is 1xx or not one of HTTP.
        case notFinal
        /// The status is 206: bodies are stored whole.
        case partial
        /// The status is 304: it updates a stored response, and is none itself.
        case notModified
        /// The response says `must-understand`, and this cache does not implement its status.
        case notUnderstood
        /// The response says `no-store`.
        case noStore
        /// The request says `no-store`.
        case noStoreRequested
        /// The response says `private`, and the cache is shared.
        case isPrivate
        /// The request had what may be credentials, and the response does not permit a shared cache to store it.
        case authorized
        /// The response says `Vary: *`, or its `Vary` is malformed: no later request would match.
        case variesOnEverything
        /// It has neither a lifetime nor `public`, and its status does not permit storing by itself.
        case nothingAllowsIt
    }

    /// Whether the response to a GET may be stored (sections 3, 3.5, 5.2.2.3).
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
            || said.contains(.private)  // a shared cache has refused it above
            || said.contains(.maxAge)
            || (said.contains(.sMaxAge) && audience == .shared)
            || response.fields["Expires"] != nil
            || response.isHeuristicallyCacheable
            || injectedLifetime(of: response, said) != nil
    }
}
