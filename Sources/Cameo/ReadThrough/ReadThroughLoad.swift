internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// Loads `http:` and `https:` URLs through the store, for all sessions with the same settings.
final class ReadThroughLoader: Sendable {
    let cache: SessionCache
    let settings: TransferSettings
    let transfers: HTTPTransfers
    private let refreshes = Refreshes()
    let now: @Sendable () -> Date

    init(
        store: any Store,
        memory: BlobMemory,
        rules: ReadThrough,
        settings: TransferSettings,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        cache = SessionCache(store: store, memory: memory, rules: rules)
        self.settings = settings
        self.now = now
        transfers = HTTPTransfers(settings.transferConfiguration, now: now)
    }

    /// - Throws: the original `URLError`; `CancellationError`.
    func answer(to request: URLRequest) async throws -> Answer {
        let request = try SessionRequest(request, settings, cache.rules)
        var load: ReadThroughLoad
        do throws(StoreError) {
            let question = request.question
            let stored = question.use == .bypass ? [] : try await cache.store.cachedSources(question.key)
            load = ReadThroughLoad(request, by: self, stored: stored)
        } catch {
            load = ReadThroughLoad(request, by: self, stored: [], trouble: error)
        }
        return try await load.run()
    }

    /// Loads a response again whose stored version, possibly a part of it, is served meanwhile.
    func refresh(_ request: URLRequest, _ key: SourceKey) {
        var request = request
        request.httpMethod = "GET"
        request.cachePolicy = .reloadRevalidatingCacheData
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"] {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        refreshes.begin(key) { [request] in _ = try? await self.answer(to: request) }
    }
}

/// One load: carries out a ``CacheConversation`` and reports it in `Cache-Status`. A failing store may cost a transfer, but
/// never fails a load.
struct ReadThroughLoad {
    private let request: SessionRequest
    private let loader: ReadThroughLoader
    private var conversation: CacheConversation<URL>
    /// Why no stored response can be used.
    private var reason: CacheStatus.Reason
    private var detail: String?
    /// The body of the stored response, and whether it was in memory.
    private var body: Data?
    private var isFromMemory = false
    /// The last response, or why there is none.
    private var exchange: HTTPExchange?
    private var error: URLError?
    private var cookies: HTTPCookieStorage?

    init(_ request: SessionRequest, by loader: ReadThroughLoader, stored: [CachedSource], trouble: StoreError? = nil) {
        self.request = request
        self.loader = loader
        conversation = CacheConversation(request.question, stored: stored)
        reason = trouble != nil ? .bypass : stored.isEmpty ? .missingURI : .missingVariant
        detail = trouble?.description
    }

    /// - Throws: the original `URLError`; `CancellationError`.
    mutating func run() async throws -> Answer {
        var action = conversation.begin(at: loader.now())
        while true {
            switch action {
            case .read(let source):
                let bytes = await loader.cache.bytes(of: source)
                (body, isFromMemory, detail) = (bytes.data, bytes.isFromMemory, bytes.detail ?? detail)
                if body == nil { reason = .missing }
                action = conversation.read(body == nil ? .gone : .whole)
            case .goOnline:
                let number = await number()
                action = conversation.goOnline(as: number)
            case .ask(let query):
                action = try await ask(query)
            case .end(let changes, let outcome):
                let old = conversation.superseded
                let result = await loader.cache.make(changes, exchange?.body ?? Data(), superseding: old)
                return try answer(outcome, result)
            }
        }
    }

    private mutating func number() async -> Int64? {
        guard !request.question.isPassedOn else { return nil }
        do throws(StoreError) {
            return try await loader.cache.store.nextSourceSeen()
        } catch {
            detail = error.description
            return nil
        }
    }

    private mutating func ask(
        _ query: CacheConversation<URL>.Query
    ) async throws -> CacheConversation<URL>.Action {
        do {
            // Foundation does not look at paths as RFC 6265, section 5.1.4, has it.
            let path = query.route.place.path
            let cookies = (cookies?.cookies(for: query.route.place) ?? []).filter { cookie in
                path == cookie.path || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/")
            }
            let exchange = try await loader.transfers.perform(request.request(for: query, with: cookies))
            loader.settings.storeCookies(of: exchange, along: &self.cookies)
            self.exchange = exchange
            let peer = Peer(origin: exchange.url.origin, .program)
            return conversation.answered(exchange.head, from: [peer], at: loader.now()) {
                (BlobDigest(of: exchange.body), exchange.body.count)
            }
        } catch let error as URLError where error.isDisconnection {
            (self.error, exchange) = (error, nil)
            return conversation.failed(at: loader.now())
        }
    }

    // MARK: - The end

    private func answer(_ outcome: CacheOutcome, _ result: SessionCache.Result) throws -> Answer {
        switch outcome {
        case .stored(let source, .fresh(let age)):
            return try answer(out: source, age, detail ?? (isFromMemory ? CacheStatus.memory : nil))
        case .stored(let source, .refreshing(let age)):
            loader.refresh(request.request, source.key)
            return try answer(out: source, age, detail ?? CacheStatus.refreshing)
        case .stored(let source, .stale(let age)):
            let trouble = error?.code.rawValue ?? exchange?.head.status
            return try answer(out: source, age, trouble.map { "\($0)" })
        case .stored(let source, .validated(let head)):
            let detail = result.detail ?? detail
            let status = CacheStatus.forwarded(.stale, status: 304, isStored: result.isStored, detail: detail)
            return try Answer(whole: body ?? Data(), head.fields, at: url(of: source), to: request.request, status)
        case .received:
            guard let exchange else { throw URLError(.badServerResponse) }
            let detail = result.detail ?? detail
            let status = CacheStatus.forwarded(forwardingReason, status: nil, isStored: result.isStored, detail: detail)
            let (head, body) = (exchange.head, exchange.body)
            guard head.status == 200, !request.question.isPassedOn else {
                let fields = head.handedOn(bytes: body.count, to: conversation.route.method)
                return try Answer(exchange.url, head.status, fields, body, status)
            }
            return try Answer(whole: body, head.fields.storable, at: exchange.url, to: request.request, status)
        case .nothingStored: throw URLError(.resourceUnavailable)
        case .onlyIfCached:
            let status = CacheStatus.refused(detail: "nothing fresh is kept")
            return try Answer(request.question.target, 504, HTTPFields().decoded(bytes: 0), Data(), status)
        case .unreachable: throw error ?? URLError(.unknown)
        case .redirect(.tooMany): throw URLError(.httpTooManyRedirects)
        case .redirect: throw URLError(.unsupportedURL)
        }
    }

    private func answer(out source: CachedSource, _ age: Duration, _ detail: String?) throws -> Answer {
        let freshFor = request.question.policy.freshUntil(of: source.chain).timeIntervalSince(loader.now())
        var fields = source.head.fields
        fields.set("Age", "\(max(0, age.components.seconds))")
        let status = CacheStatus.hit(ttl: Int(max(-1e9, min(1e9, freshFor.rounded(.down)))), detail: detail)
        return try Answer(whole: body ?? Data(), fields, at: url(of: source), to: request.request, status)
    }

    private func url(of source: CachedSource) -> URL { URL(string: source.finalURL) ?? request.question.target }

    /// Why the server was asked (RFC 9211, section 2.2).
    private var forwardingReason: CacheStatus.Reason {
        let question = request.question
        if question.isPassedOn {
            if question.method != "GET" { return .method }
            return question.use == .bypass ? .bypass : .partial
        }
        if question.use == .reload { return .request }
        return conversation.hasStoredResponse ? .stale : reason
    }
}

extension URLError {
    /// Whether there was no name, no connection or no response at all (RFC 9111, section 4.2.4). An untrusted certificate is
    /// not a disconnection: some server has responded. swift-corelibs-foundation reports a connection that was closed
    /// without a response as a bad one.
    fileprivate var isDisconnection: Bool {
        switch code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .networkConnectionLost,
            .timedOut, .badServerResponse, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
            true
        default: false
        }
    }
}
