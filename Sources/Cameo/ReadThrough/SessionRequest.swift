internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// A request of a session, as the cache sees it.
struct SessionRequest: Sendable {
    /// The limit of Foundation's own sessions.
    private static let maximumRedirects = 20

    /// The original request, with its timeouts and body.
    let request: URLRequest
    let question: CacheRequest<URL>

    /// - Throws: `URLError` for a request that cannot be sent.
    init(_ request: URLRequest, _ settings: TransferSettings, _ rules: ReadThrough) throws(URLError) {
        guard let url = request.url, let target = Self.target(url) else { throw URLError(.badURL) }
        var fields = HTTPFields(request.allHTTPHeaderFields ?? [:])
        for line in settings.headers where fields[line.name] == nil { fields.append(line.name, line.value) }
        if let authorization = target.authorization, fields["Authorization"] == nil {
            fields.set("Authorization", authorization)
        }
        // libcurl would send a line break unchanged, and so a header that the value injects.
        guard fields.lines.allSatisfy(\.isSendable) else { throw URLError(.badURL) }
        self.request = request
        let credentials = fields.lines.filter { !$0.isHarmless }.map { ($0.name.lowercased(), $0.value) }
        let scope = RequestScope(headers: Dictionary(credentials, uniquingKeysWith: { first, _ in first }))
        let key = SourceKey(uri: target.name, scope: scope)
        let method = request.httpMethod ?? "GET"
        let isKept = HTTPMethod.isSafe(method) && (scope == nil || rules.credentials == .keptApart)
        let cachePolicy =
            request.cachePolicy == .useProtocolCachePolicy ? settings.cachePolicy : request.cachePolicy
        question = CacheRequest(
            method,
            key: key,
            policy: CachePolicy(for: key, defaultLifetime: rules.defaultLifetime, staleIfError: rules.staleIfError),
            use: isKept ? CacheUse(cachePolicy) : .bypass,
            target: target.url,
            fields: fields,
            maximumRedirects: Self.maximumRedirects,
            sent: Self.sent(at:)
        )
    }

    /// The fields on which responses may vary. Bodies are stored decoded, so a request that names no coding accepts every
    /// response. Workers add the same field, and so find the responses that a program has stored.
    private static func sent(at stop: RedirectRoute<URL>.Stop) -> SentFields {
        var fields = stop.fields
        if fields["Accept-Encoding"] == nil { fields.set("Accept-Encoding", "*") }
        return SentFields(fields)
    }

    /// The request to send for a query, with cookies that redirects have set.
    func request(for query: CacheConversation<URL>.Query, with cookies: [HTTPCookie]) -> URLRequest {
        var request = request
        request.url = query.route.place
        if query.route.method != question.method {
            request.httpMethod = query.route.method
            request.httpBody = nil
        }
        request.allHTTPHeaderFields = [:]
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // Foundation on Linux counts only what was assigned, not what an initialiser was given. 60 is nobody's choice.
        let timeout = request.timeoutInterval
        if timeout != 60 { request.timeoutInterval = timeout }
        for line in query.route.stop.fields.lines + query.validators.lines {
            request.setValue(line.value, forHTTPHeaderField: line.name)
        }
        if let set = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"], !cookies.isEmpty {
            let own = request.value(forHTTPHeaderField: "Cookie").map { "\($0); " } ?? ""
            request.setValue(own + set, forHTTPHeaderField: "Cookie")
        }
        return request
    }

    /// The URL without user information and fragment, also as the name that workers use, and what the former authorizes; nil
    /// unless it is an HTTP URL with a host.
    private static func target(_ url: URL) -> (name: String, url: URL, authorization: String?)? {
        guard var parts = URLComponents(url: url.absoluteURL, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = parts.encodedHost, !host.isEmpty
        else { return nil }
        let authorization = parts.authorization
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        guard let name = parts.string else { return nil }
        // Foundation's own protocol for HTTP knows a scheme in lower case only.
        parts.scheme = scheme
        return parts.url.map { (name, $0, authorization) }
    }
}

extension CacheUse {
    fileprivate init(_ policy: URLRequest.CachePolicy) {
        switch policy {
        case .useProtocolCachePolicy: self = .fresh
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .reload
        case .returnCacheDataElseLoad: self = .anyAge
        case .returnCacheDataDontLoad: self = .only
        default: self = .validated
        }
    }
}

extension HTTPFields.Line {
    /// Whether the line contains no line break or other control character.
    fileprivate var isSendable: Bool { (name + value).utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) } }
}

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
