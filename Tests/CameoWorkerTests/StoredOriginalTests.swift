import CacheConformance
import CameoFetch
import CameoModel
import CameoSQLite
import CameoStore
import CameoSystem
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoWorker

/// Cached originals as sources (`cameo://source/…`), and overlays from the cache.
@Suite(.origin, .timeLimit(.minutes(10)))
struct StoredOriginalTests {
    private let origin = Origin.ofSuite
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    private static var configuration: WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.budget = ByteBudget(limit: 1)
        configuration.maximumSourceBytes = 1_000
        return configuration
    }

    private func fetch(
        _ source: String,
        overlay: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> (pictures: FetchedPictures, number: Int64) {
        var rendition = Rendition(width: 64, height: 64)
        rendition.look.overlay = overlay.map { Rendition.Overlay(source: $0) }
        let request = ThumbnailRequest(source: source, renditions: [rendition], headers: headers)
        let resolver = SourceResolver(
            store: bench.store,
            fetcher: bench.fetcher,
            limiter: ByteBudget(limit: 1),
            configuration: Self.configuration
        )
        let number = try await bench.store.nextSourceSeen()
        let ticket = FetchTicket(sourceSeen: number, after: number, isFirstAttempt: true)
        let pictures = try await resolver.fetch(request, ticket, WorkClock())
        #expect(pictures.sourceSeen(ticket) <= number)
        return (pictures, pictures.sourceSeen(ticket))
    }

    /// Otherwise a request could name an original from a network that this worker may not fetch from.
    @Test func anOriginalFromAPrivateNetworkIsForWorkersThatMayFetchThere() async throws {
        let uri = origin.url("/scripted/private")
        try await origin.script("/scripted/private", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "one"))
        _ = try await bench.fetch(uri)
        let guarded = SourceResolver(
            store: bench.store,
            fetcher: try bench.anotherFetcher(change: { $0.allowedNetworks = [] }),
            limiter: ByteBudget(limit: 1),
            configuration: Self.configuration
        )
        let request = ThumbnailRequest(source: CameoURI.source(uri).text, renditions: [Rendition(width: 64)])
        let ticket = FetchTicket(sourceSeen: 9, after: 9, isFirstAttempt: true)
        let failure = try #require(
            await #expect(throws: JobFailure.self) { _ = try await guarded.fetch(request, ticket, WorkClock()) }
        )
        #expect(failure.code == .sourceForbidden)
        #expect(failure.message.contains("127.0.0.1 is in the private or reserved network 127.0.0.0/8"))
        #expect(failure.message.contains("--allow-network 127.0.0.1/32"))
        #expect(try await fetch(request.source).pictures.source.text() == "one")

        // A picture that a program hands over has no address.
        let key = try CacheKey("avatar of 7")
        _ = try await bench.store.enqueue(request, data: Data("two".utf8), cacheKey: key)
        let handedOver = ThumbnailRequest(source: key.uri, renditions: [Rendition(width: 64)])
        #expect(try await guarded.fetch(handedOver, ticket, WorkClock()).source.text() == "two")
    }

    private func failure(_ source: String) async throws -> JobFailure {
        try #require(await #expect(throws: JobFailure.self) { _ = try await fetch(source) })
    }

    @Test func aCachedOriginalIsASourceFreshOrNot() async throws {
        let uri = origin.url("/scripted/original?a=b c")
        try await origin.script("/scripted/original", ScriptedAnswer(200, ["Cache-Control: max-age=1"], body: "one"))
        _ = try await bench.fetch(uri)
        bench.clock.advance(1_000)
        let (pictures, number) = try await fetch(CameoURI.source(uri).text)
        #expect(try pictures.source.text() == "one")
        #expect(pictures.source.arrival.name == "cached")
        #expect(number == 1)
        #expect(try await origin.requests(of: "/scripted/original").count == 1)
    }

    @Test func aMissingOriginalFailsAndSaysWhatToDo() async throws {
        let failure = try await failure("cameo://source/http%3A%2F%2Fuser%3Asecret%40nowhere.invalid%2Fa")
        #expect(failure.code == .sourceNotFound)
        #expect(!failure.isRetryable)
        #expect(failure.message.contains("a job whose source is http://nowhere.invalid/a itself fetches it"))
    }

    @Test func aTenantsOriginalCannotBeNamed() async throws {
        let uri = origin.url("/scripted/tenant")
        try await origin.script("/scripted/tenant", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "one"))
        _ = try await bench.fetch(uri, headers: ["Cookie": "a"])
        #expect(try await failure(CameoURI.source(uri).text).code == .sourceNotFound)
    }

    @Test(arguments: [
        "cameo://source/a", "CAMEO://source/a", "cameo://thumb/0123456789abcdef0123456789abcdef", "cameo:anything",
    ])
    func anOriginalThatIsInTheStoreAlreadyIsRefused(inner: String) async throws {
        let failure = try await failure(CameoURI.source(inner).text)
        #expect(failure.code == .sourceInvalid)
        #expect(failure.message.contains("is in the store already"))
    }

    /// The headers are credentials for the source. Even its own host must not see them in a request for an overlay, whose
    /// answer is shared by all tenants.
    @Test func overlaysGoThroughTheCacheWithoutTheRequestsHeaders() async throws {
        let (source, logo) = ("/scripted/overlaid", "/scripted/logo")
        for path in [source, logo] {
            try await origin.script(path, ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: path))
        }
        let first = try await fetch(origin.url(source), overlay: origin.url(logo), headers: ["Cookie": "a"])
        let second = try await fetch(origin.url(source), overlay: origin.url(logo), headers: ["Cookie": "b"])
        #expect(second.pictures.source.arrival == .fetched)
        #expect(second.pictures.overlays.map(\.file.arrival.name) == ["cached"])
        #expect(try await origin.requests(of: logo).map { $0["cookie"] } == [nil])
        // A thumbnail has the number of the oldest fetch that it is made of.
        #expect(second.number == first.number)
    }

    @Test func aSourceWithoutAFetchHasTheNumberOfItsJob() async throws {
        #expect(try await fetch("data:image/png;base64,iVBORw0KGgo=").number == 1)
        #expect(try await fetch("data:image/png;base64,iVBORw0KGgo=").number == 2)
    }

    /// Stale sources are reported, each with its age and the reason.
    @Test func staleSourcesAreReported() async throws {
        let path = "/scripted/stale"
        try await origin.script(
            path,
            ScriptedAnswer(200, ["Cache-Control: max-age=1"], body: "one"),
            .hangup
        )
        _ = try await fetch(origin.url(path))
        bench.clock.advance(100)
        let stale = try await fetch(origin.url(path), overlay: "data:image/png;base64,iVBORw0KGgo=").pictures.stale
        #expect(stale.map(\.uri) == [origin.url(path)])
        #expect(stale.first?.trouble.contains("cannot be reached") == true)
    }
}
