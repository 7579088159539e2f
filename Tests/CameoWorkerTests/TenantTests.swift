import CacheConformance
import CameoFetch
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// Tenants that share a cache. One tenant's answer is never served to another, whatever the server says about caching.
@Suite(.origin, .timeLimit(.minutes(10)))
struct TenantTests {
    /// How a tenant identifies itself.
    enum Credential: String, CaseIterable, Sendable {
        case authorization, cookie, ownHeader, inTheURL, none
    }

    /// The state of the first tenant's answer when the second tenant asks.
    enum Past: String, CaseIterable, Sendable {
        case fresh, revalidated, stale
    }

    private let origin = Origin.ofSuite
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    private func credentials(_ credential: Credential, of tenant: String, _ path: String) -> (String, [String: String])
    {
        switch credential {
        case .authorization: (origin.url(path), ["Authorization": "Bearer \(tenant)"])
        case .cookie: (origin.url(path), ["Cookie": "session=\(tenant)"])
        case .ownHeader: (origin.url(path), ["X-Tenant": tenant])
        case .inTheURL: (origin.url(path, host: "\(tenant):secret@127.0.0.1"), [:])
        case .none: (origin.url(path), [:])
        }
    }

    @Test(arguments: Credential.allCases, Past.allCases)
    func tenantsNeverSeeEachOthersBytes(credential: Credential, past: Past) async throws {
        let path = "/scripted/\(credential)-\(past)"
        // The worst a server can do: it declares the answer public, and does not say that it varies.
        let fields = ["Cache-Control: public, max-age=60, stale-if-error=100000", "ETag: \"v1\""]
        try await origin.script(path, ScriptedAnswer(200, fields, body: "picture of a"))
        let a = credentials(credential, of: "a", path)
        #expect(try await bench.outcome(a.0, headers: a.1) == "fetched picture of a")
        if past != .fresh { bench.clock.advance(61) }
        if past == .revalidated {
            try await origin.script(path, ScriptedAnswer(304, fields))
            #expect(try await bench.outcome(a.0, headers: a.1) == "revalidated picture of a")
        }
        for other in Credential.allCases where other != credential || other != .none {
            let b = credentials(other, of: "b", path)
            try await origin.script(path, past == .stale ? .hangup : ScriptedAnswer(200, fields, body: "picture of b"))
            let outcome = try await bench.outcome(b.0, headers: b.1, isFirstAttempt: false)
            #expect(outcome == (past == .stale ? "source.unreachable" : "fetched picture of b"), "\(other)")
            #expect(try await origin.requests(of: path).last?["if-none-match"] == nil)
        }
        if past != .revalidated {
            #expect(
                try await bench.outcome(a.0, headers: a.1)
                    == (past == .fresh ? "cached picture of a" : "stale picture of a")
            )
        }
    }

    @Test func onlyRequestsOfOneTenantShareADownload() async throws {
        let path = "/scripted/shared"
        var held = ScriptedAnswer(200, ["Cache-Control: public, max-age=60"], body: "picture")
        held.held = true
        try await origin.script(path, held)
        let number = try await bench.store.nextSourceSeen()
        let fetches = ["a", "b", "a"].enumerated().map { index, tenant in
            let ticket = FetchTicket(sourceSeen: number + Int64(index), after: 0, isFirstAttempt: true)
            return Task.immediate {
                try await bench.fetcher.fetch(origin.url(path), headers: ["X-Tenant": tenant], ticket: ticket)
            }
        }
        try await origin.awaitArrivals(of: path, count: 2)
        try await origin.release()
        for fetch in fetches { _ = try await fetch.value }
        let tenants = try await origin.requests(of: path).compactMap { $0["x-tenant"] }
        #expect(tenants.sorted() == ["a", "b"])
    }

    /// A program that asks without credentials, such as the library, must not get what the operator's credentials open.
    @Test(arguments: ["Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN", "X-Anything"])
    func answersToTheOperatorsCredentialsAreCachedOnlyIfTheyArePublic(name: String) async throws {
        let host = "http://127.0.0.1:\(origin.port)"
        let bench = try CacheBench(change: {
            $0.hostHeaders = [try HostHeader(host: host, name: name, value: "operator's")]
        })
        for (fields, isKept) in [("max-age=60", false), ("public, max-age=60", true)] {
            // A tenant's headers are part of the scope of a cached answer, the operator's are not.
            for headers in [[:], ["X-Tenant": "a"]] {
                let path = "/scripted/operator-\(name)-\(isKept)-\(headers.count)"
                try await origin.script(path, ScriptedAnswer(200, ["Cache-Control: \(fields)"], body: "picture"))
                #expect(try await bench.outcome(origin.url(path), headers: headers) == "fetched picture")
                let second = try await bench.outcome(origin.url(path), headers: headers)
                #expect(second == (isKept ? "cached picture" : "fetched picture"))
                #expect(try await origin.requests(of: path).first?[name.lowercased()] == "operator's")
            }
        }
    }

    @Test func answersToTheOperatorsCredentialsBehindARedirectAreNotCachedEither() async throws {
        let bench = try CacheBench(change: {
            $0.hostHeaders = [
                try HostHeader(host: "http://localhost:\(self.origin.port)", name: "X-Api-Key", value: "operator's")
            ]
            $0.allowedHosts = ["localhost"]
        })
        let end = origin.url("/scripted/operators-end", host: "localhost")
        try await origin.script("/scripted/operators-start", ScriptedAnswer(301, ["Location: \(end)"]))
        try await origin.script(
            "/scripted/operators-end",
            ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "one")
        )
        for _ in 0..<2 { #expect(try await bench.outcome(origin.url("/scripted/operators-start")) == "fetched one") }
    }

    @Test(arguments: ["User-Agent", "Accept", "ACCEPT-LANGUAGE", "Cache-Control"])
    func headersOfTheOperatorThatAreNotCredentialsDoNotPreventCaching(name: String) async throws {
        let host = "http://127.0.0.1:\(origin.port)"
        let bench = try CacheBench(change: { $0.hostHeaders = [try HostHeader(host: host, name: name, value: "x")] })
        let path = "/scripted/harmless-\(name)"
        try await origin.script(path, ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "picture"))
        #expect(try await bench.outcome(origin.url(path)) == "fetched picture")
        #expect(try await bench.outcome(origin.url(path)) == "cached picture")
    }
}
