import CacheConformance
import CameoFetch
import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import CameoWorker
import Foundation
import TestSupport
import Testing

/// One cache of several workers, of which one may fetch where another may not.
@Suite(.timeLimit(.minutes(10)))
struct GuardedCacheTests {
    private let origin: Origin
    /// Its fetcher may fetch from loopback.
    private let bench: CacheBench
    private let guarded: Fetcher

    init() async throws {
        origin = try await Origin.start()
        bench = try CacheBench()
        guarded = try bench.anotherFetcher(change: { $0.allowedNetworks = [] })
    }

    private func script(_ path: String, _ fields: String..., body: String = "one") async throws {
        try await origin.script(path, ScriptedAnswer(200, fields, body: body))
    }

    private func worker(allowing hosts: String...) throws -> Fetcher {
        try bench.anotherFetcher(change: { ($0.allowedNetworks, $0.allowedHosts) = ([], hosts) })
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func whatOneMayFetchAnotherMayNotHave(host: String) async throws {
        let uri = origin.url("/scripted/a", host: host)
        try await script("/scripted/a", "Cache-Control: max-age=60, stale-if-error=600", "ETag: \"1\"")
        #expect(try await bench.outcome(uri) == "fetched one")
        #expect(try await bench.outcome(uri, with: guarded) == "source.forbidden")
        #expect(try await bench.outcome(uri, with: worker(allowing: host)) == "cached one")
        #expect(try await bench.outcome(uri, with: worker(allowing: "other.example")) == "source.forbidden")
        // It is still there for whoever may, and stale it is no more for the others than fresh.
        bench.clock.advance(61)
        await origin.end()
        #expect(try await bench.outcome(uri, with: guarded) == "source.forbidden")
        #expect(try await bench.outcome(uri) == "stale one")
    }

    /// Each place on the way counts, as it does while it is fetched.
    @Test func aPrivateAddressBehindARedirectCounts() async throws {
        let start = origin.url("/scripted/start", host: "localhost")
        let end = origin.url("/scripted/end")
        try await origin.script(
            "/scripted/start",
            ScriptedAnswer(301, ["Location: \(end)", "Cache-Control: max-age=60"])
        )
        try await script("/scripted/end", "Cache-Control: max-age=60")
        #expect(try await bench.outcome(start) == "fetched one")
        #expect(try await bench.outcome(start, with: worker(allowing: "localhost")) == "source.forbidden")
        #expect(try await bench.outcome(start, with: worker(allowing: "localhost", "127.0.0.1")) == "cached one")
    }

    /// Whoever has a name now may say of bytes that somebody else had under it that they are unchanged.
    @Test func bytesOfAPrivateNetworkAreNotEvenValidated() async throws {
        let uri = origin.url("/scripted/rebound")
        let inner = Peer(origin: uri, .address("10.1.2.3"))
        try await keep(uri, Data("secret".utf8), from: inner)
        try await script("/scripted/rebound", "Cache-Control: max-age=60")
        #expect(try await bench.outcome(uri) == "fetched one")
        #expect(try await origin.requests(of: "/scripted/rebound").map { $0["if-none-match"] } == [nil])
        #expect(try await bench.outcome(uri) == "cached one", "its own takes the place of the other")
    }

    /// The time that a failure took and the words that it has would tell what is there.
    @Test func whatFailedInAPrivateNetworkIsNotTold() async throws {
        try await origin.script("/scripted/none", ScriptedAnswer(404))
        let missing = origin.url("/scripted/none")
        #expect(try await bench.outcome(missing) == "source.notFound")
        #expect(try await bench.outcome(missing, with: guarded) == "source.forbidden")
        await origin.end()
        let gone = origin.url("/scripted/gone")
        #expect(try await bench.outcome(gone) == "source.unreachable")
        #expect(try await bench.outcome(gone, with: guarded) == "source.forbidden")
        let asked = try await bench.store.rememberedFailure(of: SourceKey(uri: gone, scope: nil))
        #expect(asked?.peers == [Peer(origin: origin.url(""), .address("127.0.0.1"))])
    }

    /// A proxy alone knows what is behind it.
    @Test func whatCameThroughAProxyIsForThoseBehindOne() async throws {
        let uri = "http://pictures.invalid/scripted/proxied"
        // To a proxy the whole URL is sent.
        try await script(uri, "Cache-Control: max-age=60")
        let direct = try bench.anotherFetcher(change: {
            ($0.allowedNetworks, $0.connectTimeout) = ([], .milliseconds(100))
        })
        let proxied = try bench.anotherFetcher(change: { ($0.allowedNetworks, $0.proxy) = ([], self.origin.url("")) })
        #expect(try await bench.outcome(uri, with: proxied) == "fetched one")
        #expect(try await bench.outcome(uri, with: proxied) == "cached one")
        #expect(try await bench.outcome(uri, with: direct) != "cached one")
        #expect(try await bench.outcome(uri, with: worker(allowing: "pictures.invalid")) == "cached one")
    }

    /// The library is not told addresses; a program answers for what it loads, as for what it hands over.
    @Test func whatAProgramHasLoadedIsJudgedByItsSpelling() async throws {
        for host in ["pictures.invalid", "8.8.8.8", "10.1.2.3", "0x7f.1.", "[::1]", "localhost"] {
            let uri = "http://\(host)/a.jpg"
            try await keep(uri, Data("one".utf8), from: Peer(origin: "http://\(host):80", .program))
            let isServed = try await bench.outcome(uri, with: guarded) == "cached one"
            #expect(isServed == ["pictures.invalid", "8.8.8.8"].contains(host), "\(host)")
        }
    }

    private func keep(_ uri: String, _ data: Data, from peer: Peer) async throws {
        let now = bench.clock.now()
        let fields = HTTPFields([
            .init(name: "Cache-Control", value: "max-age=60"), .init(name: "ETag", value: "\"1\""),
        ])
        let source = CachedSource(
            key: SourceKey(uri: uri, scope: nil),
            finalURL: uri,
            head: CacheableResponse(status: 200, fields: fields, requestTime: now, responseTime: now),
            freshUntil: now + 60,
            blob: SHA256.digest(of: data),
            bytes: data.count,
            sourceSeen: try await bench.store.nextSourceSeen(),
            peers: [peer]
        )
        try await bench.store.keep(source, data: data, budget: nil)
    }
}
