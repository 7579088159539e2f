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

/// A cache that is shared by workers with different rules on which addresses they may fetch from.
@Suite(.timeLimit(.minutes(10)))
struct GuardedCacheTests {
    private let origin: Origin
    /// A bench whose fetcher may fetch from loopback addresses, unlike ``guarded``.
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
    func aWorkerIsNotServedWhatItMayNotFetch(host: String) async throws {
        let uri = origin.url("/scripted/a", host: host)
        try await script("/scripted/a", "Cache-Control: max-age=60, stale-if-error=600", "ETag: \"1\"")
        #expect(try await bench.outcome(uri) == "fetched one")
        #expect(try await bench.outcome(uri, with: guarded) == "source.forbidden")
        #expect(try await bench.outcome(uri, with: worker(allowing: host)) == "cached one")
        #expect(try await bench.outcome(uri, with: worker(allowing: "other.example")) == "source.forbidden")
        // The answer is still there for those who may fetch it. For the others, a stale one is refused like a fresh one.
        bench.clock.advance(61)
        await origin.end()
        #expect(try await bench.outcome(uri, with: guarded) == "source.forbidden")
        #expect(try await bench.outcome(uri) == "stale one")
    }

    /// Every hop of a redirect counts, as it does during a fetch.
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

    /// A host name may have moved to another owner, who could declare the bytes of the former owner unchanged.
    @Test func bytesOfAPrivateNetworkAreNotRevalidatedEither() async throws {
        let uri = origin.url("/scripted/rebound")
        let inner = Peer(origin: uri, .address("10.1.2.3"))
        try await keep(uri, Data("secret".utf8), from: inner)
        try await script("/scripted/rebound", "Cache-Control: max-age=60")
        #expect(try await bench.outcome(uri) == "fetched one")
        #expect(try await origin.requests(of: "/scripted/rebound").map { $0["if-none-match"] } == [nil])
        #expect(try await bench.outcome(uri) == "cached one", "its own answer replaces the other")
    }

    /// The time and the message of a failure would reveal what is in the network.
    @Test func failuresInAPrivateNetworkAreNotRevealed() async throws {
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

    /// Only the proxy knows which address an answer came from.
    @Test func answersThroughAProxyAreForWorkersBehindOne() async throws {
        let uri = "http://pictures.invalid/scripted/proxied"
        // A proxy is sent the whole URL.
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

    /// The library does not learn addresses, so only the host in the URL counts for what a program has loaded.
    @Test func answersThatAProgramLoadedAreJudgedByTheirHostNames() async throws {
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
            blob: BlobDigest(of: data),
            bytes: data.count,
            sourceSeen: try await bench.store.nextSourceSeen(),
            peers: [peer]
        )
        try await bench.store.keep(source, data: data, budget: nil)
    }
}
