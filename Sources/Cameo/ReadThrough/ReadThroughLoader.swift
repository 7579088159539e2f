internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// `http:` and `https:` through the store.
///
/// DESIGN. CameoHTTPCache decides what may be kept and served, the store keeps it, and this is the order of events, the
/// same as in the workers: a fresh answer is served without the network; else the server is asked, by the kept answer's
/// validators where it has any; what comes is kept, freshened or dropped; and where the server cannot be asked, an answer
/// that may be served stale is. A store in trouble costs a transfer, never a load; the `Cache-Status` then says so.
final class ReadThroughLoader: Sendable {
    private let shelf: SourceShelf
    private let rules: ReadThrough
    private let settings: TransferSettings
    private let transfers: HTTPTransfers

    init(store: any Store, rules: ReadThrough, settings: TransferSettings) {
        shelf = SourceShelf(store: store, rules: rules)
        self.rules = rules
        self.settings = settings
        transfers = HTTPTransfers(settings.transferConfiguration)
    }

    /// - Throws: the `URLError` of the network as it is; `CancellationError`.
    func answer(to request: URLRequest) async throws -> Answer {
        let asked = try CacheRequest(request, settings)
        guard asked.key.scope == nil || rules.credentials == .keptApart else {
            return try await pass(asked, .bypass, standIn: nil)
        }
        let look = await look(for: asked)
        if let answer = try answer(asked, out: look) { return answer }
        return try await load(asked, look)
    }

    private func look(for asked: CacheRequest) async -> SourceShelf.Look {
        switch asked.cachePolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: .nothing(.request, detail: nil)
        default: await shelf.look(for: asked)
        }
    }

    // MARK: - Without the network

    /// Nil if the server has to be asked.
    private func answer(_ asked: CacheRequest, out look: SourceShelf.Look) throws -> Answer? {
        let kept: KeptAnswer? = if case .kept(let kept) = look { kept } else { nil }
        switch asked.cachePolicy {
        case .returnCacheDataElseLoad:
            return try kept.map { try answer(asked, with: $0, detail: nil) }
        case .returnCacheDataDontLoad:
            guard let kept else { throw URLError(.resourceUnavailable) }
            return try answer(asked, with: kept, detail: nil)
        case .useProtocolCachePolicy:
            if let kept,
                shelf.policy(for: asked).reuse(of: kept.source.chain, for: asked.selecting, at: Date()) == .fresh
            {
                return try answer(asked, with: kept, detail: nil)
            }
            return asked.fields.isOnlyIfCached ? try Answer(onlyIfCached: asked.url) : nil
        default: return nil
        }
    }

    private func answer(_ asked: CacheRequest, with kept: KeptAnswer, detail: String?) throws -> Answer {
        let (policy, now) = (shelf.policy(for: asked), Date())
        let ttl = policy.freshUntil(of: kept.source.chain).timeIntervalSince(now)
        let head = kept.source.head
        var fields = head.fields
        fields.set("Age", "\(max(0, policy.currentAge(of: head, at: now).components.seconds))")
        return try Answer(
            asked,
            url: kept.source.finalURL,
            CacheableResponse(
                status: head.status,
                fields: fields,
                requestTime: head.requestTime,
                responseTime: head.responseTime
            ),
            kept.data,
            .hit(ttl: Int(max(-1e9, min(1e9, ttl.rounded(.down)))), detail: detail ?? kept.detail)
        )
    }

    private func standIn(
        _ asked: CacheRequest,
        _ kept: KeptAnswer?,
        _ trouble: CachePolicy.Trouble,
        _ detail: String
    ) throws -> Answer? {
        guard let kept,
            shelf.policy(for: asked).mayServeStale(kept.source.chain, for: asked.selecting, after: trouble, at: Date())
        else { return nil }
        return try answer(asked, with: kept, detail: detail)
    }

    // MARK: - With the network

    private func load(_ asked: CacheRequest, _ look: SourceShelf.Look) async throws -> Answer {
        let kept: KeptAnswer? = if case .kept(let kept) = look { kept } else { nil }
        guard asked.isForTheWhole else {
            let reason = asked.isHead ? CacheStatus.Reason.method : .partial
            return try await pass(asked, reason, standIn: kept)
        }
        do {
            // Before the request goes out: what an older one brings never replaces what a newer one brought.
            let number = await shelf.nextNumber()
            let visit = try await visit(asked, validating: kept)
            if visit.last.head.status == 304, let kept {
                if let answer = try await validate(asked, kept, by: visit, number) { return answer }
                return try await settle(asked, kept, try await self.visit(asked, validating: nil), look, number)
            }
            return try await settle(asked, kept, visit, look, number)
        } catch let error as URLError where error.isDisconnection {
            guard let answer = try standIn(asked, kept, .disconnected, "\(error.code.rawValue)") else { throw error }
            return answer
        }
    }

    /// Hands a request on as it is, and its answer back, neither of which is looked at.
    private func pass(
        _ asked: CacheRequest,
        _ reason: CacheStatus.Reason,
        standIn kept: KeptAnswer?
    ) async throws -> Answer {
        do {
            let visit = try await visit(asked, sending: asked.fields, validating: nil)
            return try Answer(visit, .forwarded(reason, status: nil, isStored: false, detail: nil))
        } catch let error as URLError where error.isDisconnection {
            guard let answer = try standIn(asked, kept, .disconnected, "\(error.code.rawValue)") else { throw error }
            return answer
        }
    }

    /// - Returns: nil if the 304 is about something else.
    private func validate(
        _ asked: CacheRequest,
        _ kept: KeptAnswer,
        by visit: HTTPVisit,
        _ number: Result<Int64, StoreError>
    ) async throws -> Answer? {
        guard kept.source.head.isNamed(by: visit.last.head) else { return nil }
        let head = shelf.policy(for: asked).freshened(kept.source.head, by: visit.last.head)
        let keeping = await shelf.freshen(kept, asked, visit.redirects + [head], head, number)
        return try Answer(
            asked,
            url: kept.source.finalURL,
            head,
            kept.data,
            .forwarded(.stale, status: 304, isStored: keeping.isStored, detail: keeping.detail)
        )
    }

    private func settle(
        _ asked: CacheRequest,
        _ kept: KeptAnswer?,
        _ visit: HTTPVisit,
        _ look: SourceShelf.Look,
        _ number: Result<Int64, StoreError>
    ) async throws -> Answer {
        let last = visit.last
        if let trouble = CachePolicy.Trouble(status: last.head.status),
            let answer = try standIn(asked, kept, trouble, "\(last.head.status)")
        {
            return answer
        }
        let keeping = await shelf.keep(visit, asked, replacing: kept, number)
        return try Answer(
            asked,
            url: last.url.absoluteString,
            last.head,
            last.body,
            .forwarded(look.reason, status: nil, isStored: keeping.isStored, detail: keeping.detail ?? look.detail)
        )
    }

    // MARK: - On the way

    private func visit(_ asked: CacheRequest, validating kept: KeptAnswer?) async throws -> HTTPVisit {
        try await visit(asked, sending: asked.fields.conditional(on: HTTPFields()), validating: kept)
    }

    /// Follows redirects. What answers from another origin is sent nothing that may be a credential, and neither is
    /// whoever comes after it, even if that is the first one again.
    private func visit(
        _ asked: CacheRequest,
        sending fields: HTTPFields,
        validating kept: KeptAnswer?
    ) async throws -> HTTPVisit {
        var (url, fields, exchanges) = (asked.url, fields, [HTTPExchange]())
        while true {
            // An entity tag says something to the server alone that gave it.
            let isValidating = kept?.source.finalURL == url.absoluteString
            let validators = isValidating ? kept?.source.head.validators : nil
            let request = asked.request(to: url, sending: validators.map { fields.conditional(on: $0) } ?? fields)
            let exchange = try await transfers.perform(request)
            settings.storeCookies(of: exchange)
            exchanges.append(exchange)
            guard let next = try exchange.redirection else { return HTTPVisit(exchanges) }
            guard exchanges.count <= HTTPVisit.maximumRedirects else { throw URLError(.httpTooManyRedirects) }
            if !url.isSameOrigin(as: next) { fields = fields.withoutCredentials }
            url = next
        }
    }
}
