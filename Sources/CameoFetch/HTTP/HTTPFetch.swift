internal import CameoHTTPCache
internal import CameoModel
internal import CameoSystem
internal import Foundation

/// One fetch over HTTP: carries out a ``CacheConversation``.
struct HTTPFetch {
    private let request: SourceRequest
    private let source: HTTPSource
    private let cache: (any SourceCache)?
    private let ticket: FetchTicket?
    private let policy: CachePolicy
    private let key: SourceKey
    private var conversation: CacheConversation<HTTPURL>
    /// A stored body and the memory that it takes: twice its size while it is copied.
    private var bytes: (data: Data, reservation: ByteReservation)?
    /// The last response, or why there is none.
    private var answer: HTTPAnswer?
    private var failure: JobFailure?
    /// What is left of the total time.
    private var budget: Duration
    /// What the redirects of this request have set. A cache judges the request without them: they tell nothing about who asks.
    private var cookies: [String] = []
    /// Whether a server has refused to send the rest of a broken download.
    private var beginsAnew = false
    /// Whether a server has refused to send a part although it offers parts, or the first was not that of a video.
    private var loadsWhole = false

    init(
        _ request: SourceRequest,
        by source: HTTPSource,
        _ question: CacheRequest<HTTPURL>,
        stored: [CachedSource],
        _ cache: (any SourceCache)?
    ) {
        (self.request, self.source, self.cache) = (request, source, cache)
        ticket = cache == nil ? nil : request.ticket
        policy = question.policy
        key = question.key
        conversation = CacheConversation(question, stored: stored)
        budget = source.configuration.totalTimeout
    }

    private var now: Date { source.configuration.now() }

    /// - Throws: `JobFailure`; ``HostBusy``; `CancellationError`.
    mutating func run() async throws -> FetchedSource {
        var action = conversation.begin(at: now)
        while true {
            switch action {
            case .read(let answer):
                try await read(answer)
                action = conversation.read(bytes == nil ? .gone : .whole)
            case .goOnline:
                action = try await goOnline()
            case .ask(let query):
                switch try await ask(query) {
                case .next(let next): action = next
                case .video(let video): return video
                }
            case .end(let changes, let outcome):
                for change in changes { await make(change) }
                return try await end(outcome)
            }
        }
    }

    private mutating func read(_ answer: CachedSource) async throws {
        let budget = source.configuration.budget
        let reservation = try await budget.reserve(2 * answer.bytes, for: request.purpose, request.clock)
        bytes = await cache?.bytes(of: answer).map { ($0, reservation) }
    }

    /// A remembered failure ends a job's first attempt without a request. A later attempt asks again.
    private mutating func goOnline() async throws -> CacheConversation<HTTPURL>.Action {
        guard let ticket, ticket.isFirstAttempt, !ticket.asksServer, caching.failureMemory > .zero,
            let remembered = await cache?.rememberedFailure(of: key),
            source.transport.refusal(of: remembered.peers) == nil
        else { return conversation.goOnline(as: ticket?.sourceSeen) }
        let failure = remembered.repeated(at: now)
        guard failure.isDisconnection else { throw failure }
        self.failure = failure
        return conversation.failed(at: now)
    }

    private enum Step {
        case next(CacheConversation<HTTPURL>.Action)
        /// A large video, of which only parts are loaded and nothing is stored.
        case video(FetchedSource)
    }

    private mutating func ask(_ query: CacheConversation<HTTPURL>.Query) async throws -> Step {
        // The download may wait for the room that a stored body takes.
        if !conversation.holdsBody { bytes = nil }
        if query.route.redirects.isEmpty, !beginsAnew, !loadsWhole { budget = source.configuration.totalTimeout }
        if query.route.redirects.isEmpty { cookies = [] }
        let stop = query.route.stop
        if stop.dropsCredentials { source.configuration.noteDroppedCredentials(stop.place.text) }
        let resumption = try await resumption(for: query)
        var trace = HTTPTransport.Trace(cookies: cookies)
        do {
            let answer = try await source.transport.perform(
                query,
                request,
                resuming: resumption,
                stoppingAtVideo: loadsPartsOfVideo,
                within: budget,
                noting: &trace
            )
            budget -= answer.elapsed
            (self.answer, failure, cookies) = (answer, nil, trace.cookies)
            if resumption != nil, answer.body != nil { await cache?.dropPartial(of: key) }
            let action = conversation.answered(answer.head, from: trace.peers, at: now) {
                answer.body.map { ($0.digest, $0.bytes) }
            }
            return .next(action)
        } catch let found as HTTPTransport.VideoFound {
            budget -= found.elapsed
            cookies = trace.cookies
            return try await open(found.response, query)
        } catch let refusal as HTTPTransport.RestRefused {
            await cache?.dropPartial(of: key)
            beginsAnew = true
            budget -= refusal.elapsed
            return try await ask(query)
        } catch let failure as JobFailure where failure.isOfTheSource {
            await keep(trace.begun)
            return .next(try await failed(failure, trace.peers))
        }
    }

    private mutating func failed(
        _ failure: JobFailure,
        _ peers: [Peer]
    ) async throws -> CacheConversation<HTTPURL>.Action {
        await remember(failure, answeredBy: nil, from: conversation.peers + peers)
        guard failure.isDisconnection else { throw failure }
        self.failure = failure
        return conversation.failed(from: peers, at: now)
    }

    // MARK: - Videos that are loaded in parts

    private var loadsPartsOfVideo: Bool {
        source.configuration.loadsVideosInParts && request.ticket != nil && request.purpose == .source && !loadsWhole
    }

    /// Loads the first part. If the server does not send it, or if it is not that of a video, the whole is asked for again.
    private mutating func open(
        _ response: PartialResponse,
        _ query: CacheConversation<HTTPURL>.Query
    ) async throws -> Step {
        let video: PartialVideo
        do throws(Errno) {
            video = try PartialVideo(response, at: query.route, cookies, by: source.transport, within: budget)
        } catch {
            throw JobFailure.fetch(query.route.description, lacking: error)
        }
        do {
            let digest = try await video.loadFirst(request.clock)
            if VideoContainer(sniffing: video.file) != nil {
                for stored in conversation.superseded { await cache?.drop(stored) }
                return .video(FetchedSource(video, digest: digest, mediaType: response.head.mediaType))
            }
            budget = video.timeLeft
        } catch let refusal as HTTPTransport.RestRefused {
            budget -= refusal.elapsed
        } catch let failure as JobFailure where failure.isOfTheSource {
            return .next(try await failed(failure, response.peers))
        }
        loadsWhole = true
        return try await ask(query)
    }

    // MARK: - Downloads that break off

    /// A broken download of the query's URL that may be resumed. Its bytes come into memory after the room for the whole has
    /// been reserved, and while nothing else is held.
    private func resumption(for query: CacheConversation<HTTPURL>.Query) async throws -> Resumption? {
        guard let cache, ticket != nil, !beginsAnew, !conversation.holdsBody, query.validators.lines.isEmpty,
            let (partial, file) = await cache.partial(of: key), partial.url == query.route.place.text,
            partial.total <= source.configuration.maximumBytes,
            source.transport.refusal(of: partial.peers) == nil
        else { return nil }
        let memory = source.configuration.budget
        let reservation = try await memory.reserve(partial.total, for: request.purpose, request.clock)
        do throws(Errno) {
            if let resumption = try Resumption(partial, in: file, keeping: reservation) { return resumption }
            await cache.dropPartial(of: key)
        } catch {
            // Without memory for what is kept, the download begins anew, and says so if that fails too.
        }
        return nil
    }

    private func keep(_ begun: (partial: PartialResponse, body: Download.Body)?) async {
        guard let cache, ticket != nil, let begun, conversation.mayStore(begun.partial.head),
            let bytes = begun.body.mapped()
        else { return }
        await cache.keepPartial(begun.partial, bytes: bytes, of: key)
    }

    private func make(_ change: CacheChange) async {
        switch change {
        case .store(let source):
            // If there is no address space for the mapping, the response is served but not stored.
            if let bytes = answer?.body?.mapped() { await cache?.keep(source, bytes: bytes) }
        case .freshen(let source): await cache?.freshen(source)
        case .drop(let source): await cache?.drop(source)
        case .invalidate: preconditionFailure("fetches use GET, which invalidates nothing")
        }
    }

    // MARK: - The end

    private func end(_ outcome: CacheOutcome) async throws -> FetchedSource {
        switch outcome {
        case .stored(let stored, .fresh(let age)):
            return try fetched(stored).seen(stored.sourceSeen, .cached(age: age))
        case .stored(let stored, .refreshing(let age)):
            source.refresh(request, stored.key)
            return try fetched(stored).seen(stored.sourceSeen, .cached(age: age))
        case .stored(let stored, .validated): return try fetched(stored).seen(stored.sourceSeen, .revalidated)
        case .stored(let stored, .stale(let age)):
            let trouble = failure ?? answer?.failure(at: conversation.route)
            return try fetched(stored).seen(stored.sourceSeen, .stale(age: age, trouble: trouble?.message ?? ""))
        case .received:
            guard let answer else { break }
            if let body = answer.body { return FetchedSource(body, mediaType: answer.head.mediaType) }
            let failure = answer.failure(at: conversation.route)
            await remember(failure, answeredBy: answer.head, from: conversation.peers)
            throw failure
        case .onlyIfCached, .nothingStored:
            let name = SourceName.of(request.uri)
            let message = "\(name) is not in the cache, and the request says only-if-cached"
            throw JobFailure.fetch(.sourceHTTPStatus, message, isRetryable: false)
        case .redirect(let refusal): throw conversation.route.failure(refusal)
        case .unreachable:
            if let failure { throw failure }
        }
        preconditionFailure("\(outcome) without a response or a failure")
    }

    private func fetched(_ stored: CachedSource) throws(JobFailure) -> FetchedSource {
        guard let bytes else { preconditionFailure("a response is served whose body was not read") }
        return try FetchedSource(
            copying: bytes.data,
            named: SourceName.of(stored.key.uri),
            digest: stored.blob,
            mediaType: stored.mediaType,
            keeping: bytes.reservation
        )
    }

    private func remember(_ failure: JobFailure, answeredBy response: CacheableResponse?, from peers: [Peer]) async {
        guard let cache, let ticket, let duration = memory(of: failure, answeredBy: response) else { return }
        let until = now.addingTimeInterval(duration.seconds)
        await cache.remember(failure, of: key, until: until, number: ticket.sourceSeen, peers: peers)
    }

    private var caching: CacheRules { source.configuration.caching }

    /// The longest time for which a server's mistake may hide its pictures.
    private static let longestMemory = Duration.seconds(300)

    /// How long a failure is remembered and reused without asking the server; nil for one that is not. `response` is the
    /// server's, if there was one; the policy judges it, since a remembered failure is a response that is served again.
    ///
    /// Only the server's own errors and its unreachability are remembered. The worker's own limits and refusals are not: they
    /// cost nothing to check again, and another worker may have others.
    private func memory(of failure: JobFailure, answeredBy response: CacheableResponse?) -> Duration? {
        var duration = caching.failureMemory
        guard duration > .zero else { return nil }
        guard let response else { return failure.isOfTheSource ? duration : nil }
        // Most error responses have no caching information. They are not stored, but may be remembered for some seconds.
        guard policy.storing(response, of: HTTPFields()) != .forbidden,
            policy.reuse(of: response, for: HTTPFields(), at: response.responseTime) != .noCache
        else { return nil }
        if [404, 410].contains(response.status), let lifetime = policy.explicitLifetime(of: response) {
            duration = lifetime
        }
        if let wish = failure.retryAfter { duration = max(duration, wish) }
        return duration > .zero ? min(duration, Self.longestMemory) : nil
    }
}
