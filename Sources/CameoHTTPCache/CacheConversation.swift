package import CameoModel
package import Foundation
internal import Synchronization

/// The order of events of one request through an HTTP cache (RFC 9111), as a pure state machine.
///
/// DESIGN: a driver looks up the stored responses and calls ``begin(at:)``. It does what each action says and reports the
/// result by the method that the action names, until the action is ``Action/end(_:_:)``. A fresh response is served without
/// the network. Otherwise the server is asked, with the stored response's validators if it has any, and its response is
/// stored, freshens the stored one, or drops it. If the server cannot be asked, a stale response is served where that is
/// allowed. ``CachePolicy`` decides what a single response allows, ``RedirectRoute`` where redirects lead and which fields go
/// there.
///
///     begin ── read ─────────────────────────────────────────► end: serve (fresh, or stale and being refreshed)
///       │       │ gone
///       ├───────┴────────────────────────────────────────────► end: fail (only stored responses were wanted)
///       ▼
///     goOnline ── read ── ask ◄─┐ redirect; 304 about other bytes
///                          ├────┘
///                          ├─ 304 ───────────────────────────► end: freshen or drop, serve (validated)
///                          ├─ unreachable, 5xx ── read ──────► end: serve (stale), or fail
///                          └─ any other response ────────────► end: store or drop, pass on
package struct CacheConversation<Place: HTTPPlace>: Sendable {
    /// What the driver does next.
    package enum Action: Sendable {
        /// Read the stored body, then call ``CacheConversation/read(_:)``.
        case read(CachedSource)
        /// No stored response may be served as it is. Prepare for the first request, then call
        /// ``CacheConversation/goOnline(as:)``.
        case goOnline
        /// Send the request, then call ``CacheConversation/answered(_:from:at:body:)`` or
        /// ``CacheConversation/failed(from:at:)``.
        case ask(Query)
        /// Apply the changes in their order, then pass the outcome to the requester.
        case end([CacheChange], CacheOutcome)
    }

    /// A request to one URL.
    package struct Query: Sendable {
        package let route: RedirectRoute<Place>
        /// `If-None-Match` and `If-Modified-Since`, if the stored body came from this URL: for any other URL they would refer
        /// to other bytes. Empty for an unconditional request.
        package let validators: HTTPFields
    }

    /// The result of reading a stored body.
    package enum Reading: Sendable {
        case whole
        /// The body was evicted or is damaged.
        case gone
    }

    private struct Candidate {
        let response: CachedSource
        /// The fields that the request would send along the stored redirects.
        let sent: HTTPFields
    }

    /// Why a stored body is being read.
    private enum ReadingPurpose {
        case serving(StoredResponseUse)
        case validating
        /// It replaces the server's error response; nil if there was no response.
        case standingIn(StoredResponseUse, for: CacheableResponse?)
    }

    private let request: CacheRequest<Place>
    /// The stored responses that match the request, the newest first.
    private let candidates: [Candidate]
    /// The newest. Older ones are never served, even if they are fresh for longer (section 4).
    private var chosen: Candidate?
    private var purpose: ReadingPurpose?
    /// Whether the driver has read the stored body and has to hold it.
    package private(set) var holdsBody = false
    private var isValidating = false
    private var number: Int64?
    private var invalidated: [CacheChange] = []
    package private(set) var route: RedirectRoute<Place>
    /// The servers that the requests along the route reached.
    package private(set) var peers: [Peer] = []

    /// `stored` are the responses stored under the request's key, the newest first, as far as the driver may use them. Those
    /// that do not match (`Vary`), or whose redirects would not be followed now, are ignored.
    package init(_ request: CacheRequest<Place>, stored: [CachedSource]) {
        self.request = request
        route = request.route
        let ignoresStored = request.use == .bypass || request.isUnsafe
        candidates = ignoresStored ? [] : stored.compactMap { Self.candidate($0, for: request) }
        chosen = candidates.first
    }

    private static func candidate(_ response: CachedSource, for request: CacheRequest<Place>) -> Candidate? {
        var route = request.route
        for redirect in response.redirects {
            do throws(RedirectRefusal) { try route.follow(redirect) } catch { return nil }
        }
        let sent = request.sent(along: route).fields
        let matches = response.isPinned || Variant(text: response.variant)?.matches(sent) == true
        return matches ? Candidate(response: response, sent: sent) : nil
    }

    /// Whether a stored response matches the request, fresh or not.
    package var hasStoredResponse: Bool { chosen != nil }

    /// The stored responses that a new one supersedes.
    package var superseded: [CachedSource] { candidates.map(\.response).filter { !$0.isPinned } }

    // MARK: - Without the network

    package mutating func begin(at now: Date) -> Action {
        guard let chosen else { return leaveCache() }
        let age = age(of: chosen, at: now)
        if mayServe(chosen, at: now) { return read(chosen, for: .serving(.fresh(age: age))) }
        guard request.use == .fresh,
            request.policy.mayServeWhileRevalidating(chosen.response.chain, for: chosen.sent, at: now)
        else { return leaveCache() }
        return read(chosen, for: .serving(.refreshing(age: age)))
    }

    private func mayServe(_ candidate: Candidate, at now: Date) -> Bool {
        let response = candidate.response
        return switch request.use {
        case .anyAge, .only: true
        case .fresh:
            response.isPinned || request.policy.reuse(of: response.chain, for: candidate.sent, at: now) == .fresh
        case .validated: response.isPinned
        case .reload, .bypass: false
        }
    }

    private func age(of candidate: Candidate, at now: Date) -> Duration {
        candidate.response.isPinned ? .zero : request.policy.currentAge(of: candidate.response.head, at: now)
    }

    private mutating func read(_ candidate: Candidate, for purpose: ReadingPurpose) -> Action {
        self.purpose = purpose
        return holdsBody ? read(.whole) : .read(candidate.response)
    }

    package mutating func read(_ reading: Reading) -> Action {
        switch reading {
        case .whole: holdsBody = true
        case .gone: chosen = nil
        }
        switch purpose {
        case .serving(let use): return serve(use) ?? leaveCache()
        case .standingIn(let use, let response): return serve(use) ?? settle(response)
        case .validating:
            isValidating = chosen != nil
            return ask()
        case nil: preconditionFailure("no action asked for a body")
        }
    }

    private func serve(_ use: StoredResponseUse) -> Action? { chosen.map { end([], .stored($0.response, use)) } }

    private func leaveCache() -> Action {
        if request.use == .only { return end([], .nothingStored) }
        guard request.use != .bypass, !request.isUnsafe, request.sent(route.stop).fields.isOnlyIfCached else {
            return .goOnline
        }
        return end([], .onlyIfCached)
    }

    // MARK: - With the network

    /// - Parameter number: the number of the fetch, drawn before its first request is sent, so that an older fetch never
    ///   replaces the result of a newer one (invariant I4). Nil: nothing is stored.
    /// - Returns: ``Action/ask(_:)``, or ``Action/read(_:)`` if a stored response is to be validated.
    package mutating func goOnline(as number: Int64?) -> Action {
        self.number = number
        guard let chosen, !request.isPassedOn, request.use != .reload, !chosen.response.isPinned,
            !chosen.response.head.validators.lines.isEmpty
        else { return ask() }
        // A 304 is useless without the bytes that it refers to.
        return read(chosen, for: .validating)
    }

    private func ask() -> Action { .ask(Query(route: route, validators: validators)) }

    private var validators: HTTPFields {
        guard isValidating, let chosen, chosen.response.finalURL == route.place.text else { return HTTPFields() }
        return chosen.response.head.validators
    }

    /// No response arrived, or not all of it.
    package mutating func failed(from peers: [Peer] = [], at now: Date) -> Action {
        self.peers += peers
        return standIn(for: nil, .disconnected, at: now)
    }

    /// A response arrived from the servers that the request reached. `body` is called only if it is to be stored. Returns
    /// ``Action/ask(_:)`` to follow a redirect; otherwise the action that leads to the end.
    package mutating func answered(
        _ head: CacheableResponse,
        from peers: [Peer],
        at now: Date,
        body: () -> ReceivedBody?
    ) -> Action {
        self.peers += peers
        if request.isUnsafe { invalidate(by: head) }
        if head.redirection != nil {
            do throws(RedirectRefusal) {
                try route.follow(head)
                return ask()
            } catch {
                return end([], .redirect(error))
            }
        }
        guard !request.isPassedOn else { return end([], .received) }
        if head.status == 304, !validators.lines.isEmpty, let chosen {
            return chosen.response.head.isNamed(by: head) ? revalidate(chosen.response, by: head) : askAgain()
        }
        guard let trouble = CachePolicy.Trouble(status: head.status) else { return settle(head, body) }
        return standIn(for: head, trouble, at: now)
    }

    /// Starts again without validators, because the 304 referred to another response.
    private mutating func askAgain() -> Action {
        (route, peers, isValidating, holdsBody) = (request.route, [], false, false)
        return ask()
    }

    private mutating func standIn(
        for response: CacheableResponse?,
        _ trouble: CachePolicy.Trouble,
        at now: Date
    ) -> Action {
        // A request that insists on validation accepts nothing stale (section 5.2.1.4).
        guard let chosen, request.use == .fresh || request.use == .anyAge,
            request.policy.mayServeStale(chosen.response.chain, for: chosen.sent, after: trouble, at: now)
        else { return settle(response) }
        return read(chosen, for: .standingIn(.stale(age: age(of: chosen, at: now)), for: response))
    }

    // MARK: - What is stored

    private func revalidate(_ stored: CachedSource, by notModified: CacheableResponse) -> Action {
        let head = request.policy.freshened(stored.head, by: notModified)
        var response = stored
        (response.head, response.redirects) = (head.kept, route.redirects.map(\.kept))
        response.freshUntil = request.policy.freshUntil(of: route.redirects + [head])
        response.sourceSeen = number ?? stored.sourceSeen
        let outcome = CacheOutcome.stored(response, .validated(head))
        guard variant(endingWith: head) == stored.variant else { return end([.drop(stored)], outcome) }
        return end(number == nil ? [] : [.freshen(response)], outcome)
    }

    private func settle(_ head: CacheableResponse?, _ body: () -> ReceivedBody? = { nil }) -> Action {
        guard let head else { return end([], .unreachable) }
        // Everything that is stored may be taken for a picture, so error pages and the like are not.
        guard head.status == 200, let variant = variant(endingWith: head) else {
            return end(head.supersedesStored ? superseded.map(CacheChange.drop) : [], .received)
        }
        guard let number, let body = body() else { return end([], .received) }
        let response = CachedSource(
            key: request.key,
            variant: variant,
            finalURL: route.place.text,
            head: head.kept,
            redirects: route.redirects.map(\.kept),
            mediaType: head.mediaType,
            textEncoding: head.textEncoding,
            freshUntil: request.policy.freshUntil(of: route.redirects + [head]),
            blob: body.blob,
            bytes: body.bytes,
            sourceSeen: number,
            peers: peers
        )
        return end([.store(response)], .received)
    }

    /// Whether a response at the end of the route may be stored.
    package func mayStore(_ head: CacheableResponse) -> Bool { variant(endingWith: head) != nil }

    /// The variant of the response at the end of the route; nil if it must not be stored.
    private func variant(endingWith head: CacheableResponse) -> String? {
        let (chain, sent) = (route.redirects + [head], request.sent(along: route))
        var policy = request.policy
        if sent.isOpenedByOperator { policy.audience = .shared }
        guard policy.storing(chain, of: sent.fields) == .allowed else { return nil }
        return Variant(of: chain.map(\.fields), for: sent.fields)?.text
    }

    /// Invalidates the requested URI, and URIs of the same origin that the response names (section 4.4).
    private mutating func invalidate(by head: CacheableResponse) {
        guard !HTTPMethod.isSafe(route.method), (200..<400).contains(head.status) else { return }
        let place = route.place
        let named = ["Location", "Content-Location"].compactMap { head.fields.values(of: $0).first }
            .compactMap { try? place.resolving($0).place }.filter { $0.origin == place.origin }
        let uris = (route.redirects.isEmpty ? [request.key.uri] : []) + [place.text] + named.map(\.text)
        for change in uris.map(CacheChange.invalidate) where !invalidated.contains(change) {
            invalidated.append(change)
        }
    }

    private func end(_ changes: [CacheChange], _ outcome: CacheOutcome) -> Action {
        .end(changes + invalidated, outcome)
    }
}

/// How a request ended.
package enum CacheOutcome: Hashable, Sendable {
    /// A stored response is served; its body has been read.
    case stored(CachedSource, StoredResponseUse)
    /// The last received response is passed on.
    case received
    /// Nothing is stored, and the request accepts nothing else (``CacheUse/only``).
    case nothingStored
    /// Nothing stored may be served, and the request says `only-if-cached` (RFC 9111, section 5.2.1.7).
    case onlyIfCached
    /// No response arrived.
    case unreachable
    case redirect(RedirectRefusal)
}

/// Why a stored response is served.
package enum StoredResponseUse: Hashable, Sendable {
    /// No validation was needed. `age` is computed by RFC 9111, section 4.2.3.
    case fresh(age: Duration)
    /// The server responded with 304. The head is the updated one for this requester; less of it may be stored.
    case validated(CacheableResponse)
    /// It is stale, and may be served if the driver refreshes it behind the request's back: by a request of its own that
    /// uses only what is ``CacheUse/validated``.
    case refreshing(age: Duration)
    /// It is stale, and the server is unreachable or reported an error.
    case stale(age: Duration)
}

/// A change to the stored responses, to be made before the outcome is passed on.
package enum CacheChange: Hashable, Sendable {
    /// Store the received response.
    case store(CachedSource)
    /// Give a stored body a new head and number.
    case freshen(CachedSource)
    case drop(CachedSource)
    /// Remove all responses stored under a URI, whatever credentials they were requested with: an unsafe request may have
    /// changed the resource (RFC 9111, section 4.4).
    case invalidate(uri: String)
}

/// A received body, after content decoding: its digest, and its size.
package typealias ReceivedBody = (blob: BlobDigest, bytes: Int)

/// The refreshes of responses that were served stale meanwhile (RFC 5861, section 3), at most one a key.
///
/// Nobody waits for a refresh, so it is a task of its own, and its failure is nobody's failure: the next request within the
/// window begins another.
package final class Refreshes: Sendable {
    private let running = Mutex<Set<SourceKey>>([])

    package init() {}

    /// Starts a refresh unless one of the key is running.
    package func begin(_ key: SourceKey, _ refresh: @escaping @Sendable () async -> Void) {
        guard running.withLock({ $0.insert(key).inserted }) else { return }
        Task {
            await refresh()
            running.withLock { _ = $0.remove(key) }
        }
    }
}
