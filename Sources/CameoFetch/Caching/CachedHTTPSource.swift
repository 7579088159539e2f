internal import CameoHTTPCache
internal import CameoModel
internal import Foundation

/// `http:` and `https:` through a cache, as RFC 9111 has it.
///
/// DESIGN: what may be kept and served is decided by CameoHTTPCache, what is kept lies behind ``SourceCache``, and this
/// is the order of events: a fresh answer is served without the network; else the server is asked, by its own validators
/// where there are any; what comes is kept, freshened or dropped; and where the server cannot be asked, an answer that
/// may be served stale is. Several jobs that want the same at one time share one run of all this (``SharedFetches``), so
/// the look-up, the question and the keeping happen once.
///
/// The key of an answer has the scope of the request's credentials, so no tenant's answer is ever a candidate for
/// another, and no rule of caching has to be relied on for that.
final class CachedHTTPSource: SourceProvider {
    let schemes: [String]
    let sharesFetches = true
    private let origin: HTTPSource
    private let cache: any SourceCache
    private let policies: CachePolicies
    private let memory: FailureMemory
    private let maximumBytes: Int
    private let budget: ByteBudget
    private let now: @Sendable () -> Date

    init(
        _ origin: HTTPSource,
        _ cache: any SourceCache,
        _ configuration: FetchConfiguration
    ) throws(FetchConfigurationError) {
        schemes = origin.schemes
        self.origin = origin
        self.cache = cache
        policies = try CachePolicies(configuration.caching)
        memory = FailureMemory(base: configuration.caching.failureMemory)
        maximumBytes = configuration.maximumBytes
        budget = configuration.budget
        now = configuration.now
    }

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        guard let ticket = request.ticket else { return try await origin.open(request) }
        let visitor = try visitor(request, ticket)
        let candidates = await candidates(for: visitor)
        if let source = try await fresh(candidates, for: visitor) { return source }
        guard !visitor.fields.isOnlyIfCached else {
            throw JobFailure.fetch(
                .sourceHTTPStatus,
                "\(SourceName.of(request.uri)) is not in the cache, and the request says only-if-cached",
                isRetryable: false
            )
        }
        if let source = try await remembered(candidates, for: visitor) { return source }
        return try await ask(visitor, candidates)
    }

    func shutdown() { origin.shutdown() }

    private func visitor(_ request: SourceRequest, _ ticket: FetchTicket) throws(JobFailure) -> CacheVisitor {
        let first = try origin.route(of: request, through: [])[0]
        let key = SourceKey(uri: request.uri, scope: RequestScope(of: request.uri, headers: request.headers))
        return CacheVisitor(
            request: request,
            ticket: ticket,
            key: key,
            policy: policies.policy(for: key, url: (try? HTTPURL(parsing: request.uri)) ?? first.url),
            fields: first.sent
        )
    }

    // MARK: - From the cache

    /// The kept answers that are for this request, the newest first.
    private func candidates(for visitor: CacheVisitor) async -> [CandidateAnswer] {
        await cache.answers(for: visitor.key).compactMap { answer in
            guard answer.bytes <= maximumBytes, isAllowed(answer),
                // Redirects that would not be followed now lead nowhere.
                let stops = try? origin.route(of: visitor.request, through: answer.redirects)
            else { return nil }
            let sent = HTTPFields(sentTo: stops)
            guard answer.isPinned || Variant(text: answer.variant)?.matches(sent, digest: Self.digest) == true else {
                return nil
            }
            return CandidateAnswer(answer: answer, sent: sent)
        }
    }

    private func isAllowed(_ answer: CachedSource) -> Bool {
        answer.isPinned || (!answer.peers.isEmpty && origin.refusal(of: answer.peers) == nil)
    }

    /// Only the newest counts, also where an older one has more time left (section 4).
    private func fresh(_ candidates: [CandidateAnswer], for visitor: CacheVisitor) async throws -> FetchedSource? {
        guard let candidate = candidates.first, !visitor.ticket.asksServer || candidate.answer.isPinned else {
            return nil
        }
        let (answer, time) = (candidate.answer, now())
        let isFresh =
            answer.isPinned || visitor.policy.reuse(of: answer.chain, for: candidate.sent, at: time) == .fresh
        guard isFresh, let bytes = try await bytes(of: answer, visitor) else { return nil }
        let age = visitor.policy.currentAge(of: answer.head, at: time)
        return try source(of: answer, bytes).seen(answer.sourceSeen, .cached(age: answer.isPinned ? .zero : age))
    }

    /// What was found out a moment ago. A job's later attempt is a wish to have it tried again.
    private func remembered(_ candidates: [CandidateAnswer], for visitor: CacheVisitor) async throws -> FetchedSource? {
        guard visitor.ticket.isFirstAttempt, !visitor.ticket.asksServer, memory.base > .zero,
            let remembered = await cache.rememberedFailure(of: visitor.key), origin.refusal(of: remembered.peers) == nil
        else { return nil }
        let failure = remembered.repeated(at: now())
        if failure.isDisconnection, let source = try await stale(candidates, for: visitor, failure, .disconnected) {
            return source
        }
        throw failure
    }

    private func stale(
        _ candidates: [CandidateAnswer],
        for visitor: CacheVisitor,
        _ failure: JobFailure,
        _ trouble: CachePolicy.Trouble
    ) async throws -> FetchedSource? {
        // Who insists on the server's word wants no other (RFC 9111, section 5.2.1.4).
        guard let candidate = candidates.first, !visitor.ticket.asksServer else { return nil }
        let (answer, time) = (candidate.answer, now())
        guard visitor.policy.mayServeStale(answer.chain, for: candidate.sent, after: trouble, at: time),
            let bytes = try await bytes(of: answer, visitor)
        else { return nil }
        let age = visitor.policy.currentAge(of: answer.head, at: time)
        return try source(of: answer, bytes).seen(answer.sourceSeen, .stale(age: age, trouble: failure.message))
    }

    /// An answer's bytes and the room that they take: twice, for as long as they are copied.
    private typealias KeptBytes = (data: Data, reservation: ByteReservation)

    private func bytes(of answer: CachedSource, _ visitor: CacheVisitor) async throws -> KeptBytes? {
        let request = visitor.request
        let reservation = try await budget.reserve(2 * answer.bytes, for: request.purpose, request.clock)
        return await cache.bytes(of: answer).map { ($0, reservation) }
    }

    private func source(of answer: CachedSource, _ bytes: KeptBytes) throws(JobFailure) -> FetchedSource {
        do throws(Errno) {
            let body = try Download.Body(bytes.data, digest: answer.blob, keeping: bytes.reservation)
            return FetchedSource(body, mediaType: answer.mediaType)
        } catch {
            throw .fetch(SourceName.of(answer.key.uri), lacking: error)
        }
    }

    // MARK: - From the server

    private func ask(_ visitor: CacheVisitor, _ candidates: [CandidateAnswer]) async throws -> FetchedSource {
        var peers: [Peer] = []
        do {
            if let source = try await validated(visitor, candidates, &peers) { return source }
            peers = []
            let visit = try await origin.visit(visitor.request, noting: &peers)
            return try await settle(visit, from: peers, visitor, candidates)
        } catch let failure as JobFailure where failure.isOfTheSource {
            await remember(failure, answeredBy: nil, from: peers, visitor)
            guard failure.isDisconnection,
                let source = try await stale(candidates, for: visitor, failure, .disconnected)
            else { throw failure }
            return source
        }
    }

    /// Asks whether the newest answer is still the right one. Its bytes are read first: a 304 for bytes that are gone
    /// would be worth nothing.
    ///
    /// - Returns: nil if the question could not be put, or the answer was about something else; then it is to be put
    ///   without validators.
    private func validated(
        _ visitor: CacheVisitor,
        _ candidates: [CandidateAnswer],
        _ peers: inout [Peer]
    ) async throws -> FetchedSource? {
        guard let kept = candidates.first?.answer, !kept.isPinned, !kept.head.validators.lines.isEmpty,
            let bytes = try await bytes(of: kept, visitor)
        else { return nil }
        let validation = Validation(url: kept.finalURL, fields: kept.head.validators)
        let visit = try await origin.visit(visitor.request, validating: validation, noting: &peers)
        guard case .notModified = visit.outcome else {
            return try await settle(visit, from: peers, visitor, candidates)
        }
        guard kept.head.isNamed(by: visit.head) else { return nil }
        let head = visitor.policy.freshened(kept.head, by: visit.head)
        let source = try source(of: kept, bytes).seen(visitor.ticket.number, .revalidated)
        if let answer = try answer(head, visit, source, like: kept, from: kept.peers, visitor),
            answer.variant == kept.variant
        {
            await cache.freshen(answer)
        } else {
            await cache.drop(kept)
        }
        return source
    }

    /// Keeps, drops or remembers what the server said.
    private func settle(
        _ visit: HTTPVisit,
        from peers: [Peer],
        _ visitor: CacheVisitor,
        _ candidates: [CandidateAnswer]
    ) async throws -> FetchedSource {
        switch visit.outcome {
        case .notModified: preconditionFailure("told apart by its caller")
        case .body(let body):
            let source = FetchedSource(body, mediaType: visit.mediaType)
            if let answer = try answer(visit.head, visit, source, like: nil, from: peers, visitor) {
                // Without memory for the mapping the answer is not kept, and is as good as before.
                if let bytes = body.mapped() { await cache.keep(answer, bytes: bytes) }
            } else {
                await drop(candidates)
            }
            return source
        case .failure(let failure):
            // The picture is gone, or no longer for these credentials: it must not come back when the server is away.
            if [401, 403, 404, 410].contains(visit.head.status) { await drop(candidates) }
            if let trouble = CachePolicy.Trouble(status: visit.head.status),
                let source = try await stale(candidates, for: visitor, failure, trouble)
            {
                return source
            }
            await remember(failure, answeredBy: visit.head, from: peers, visitor)
            throw failure
        }
    }

    /// - Returns: nil for what may not be kept.
    private func answer(
        _ head: CacheableResponse,
        _ visit: HTTPVisit,
        _ source: FetchedSource,
        like kept: CachedSource?,
        from peers: [Peer],
        _ visitor: CacheVisitor
    ) throws(JobFailure) -> CachedSource? {
        let chain = visit.redirects + [head]
        let stops = try origin.route(of: visitor.request, through: visit.redirects)
        let sent = HTTPFields(sentTo: stops)
        var keeping = visitor.policy
        if stops.contains(where: \.isOpenedByOperator) { keeping.audience = .shared }
        guard keeping.storing(chain, of: sent) == .allowed,
            let variant = Variant(of: chain.map(\.fields), for: sent, digest: Self.digest)
        else { return nil }
        return CachedSource(
            key: visitor.key,
            variant: variant.text,
            finalURL: visit.finalURL,
            head: head.kept,
            redirects: visit.redirects.map(\.kept),
            mediaType: kept?.mediaType ?? visit.mediaType,
            textEncoding: kept?.textEncoding ?? visit.textEncoding,
            freshUntil: visitor.policy.freshUntil(of: chain),
            blob: source.digest,
            bytes: source.bytes,
            sourceSeen: visitor.ticket.number,
            peers: peers
        )
    }

    private func drop(_ candidates: [CandidateAnswer]) async {
        for candidate in candidates where !candidate.answer.isPinned { await cache.drop(candidate.answer) }
    }

    private func remember(
        _ failure: JobFailure,
        answeredBy response: CacheableResponse?,
        from peers: [Peer],
        _ visitor: CacheVisitor
    ) async {
        guard let duration = memory.duration(of: failure, answeredBy: response, visitor.policy) else { return }
        let until = now().addingTimeInterval(duration.seconds)
        await cache.remember(failure, of: visitor.key, until: until, number: visitor.ticket.number, peers: peers)
    }

    /// Keeps what a request said, which may be a secret, out of the store.
    private static func digest(_ text: String) -> String {
        CameoModel.SHA256.digest(of: Data(text.utf8)).hex
    }
}
