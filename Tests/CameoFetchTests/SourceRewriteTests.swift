import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct SourceRewriteTests {
    private let origin = Origin.ofSuite

    private func fetcher(_ rewrites: String..., root: String? = nil) throws -> Fetcher {
        let configuration = FetchConfiguration.forTests.with(\.allowedRoots, root.map { [$0] } ?? [])
        return try Fetcher(configuration.with(\.rewrites, try rewrites.map { try SourceRewrite(parsing: $0) }))
    }

    @Test(arguments: [
        "http://img.example/bytes?count=7", "HTTP://IMG.example/bytes?count=7",
        "https://secure.example/a=b/bytes?count=7",
    ])
    func aSourceIsFetchedFromWhereItsPrefixLeads(source: String) async throws {
        let fetcher = try fetcher(
            "http://Img.Example/=\(origin.url("/"))",
            "https://secure.example/a=b/=\(origin.url("/"))"
        )
        #expect(try await fetcher.fetch(source).bytes == 7)
    }

    @Test
    func theLongestPrefixWinsAndOnce() async throws {
        let fetcher = try fetcher(
            "http://img.example/=http://127.0.0.1:1/",
            "http://img.example/new/=\(origin.url("/"))",
            "\(origin.url("/"))=http://127.0.0.1:1/"
        )
        #expect(try await fetcher.fetch("http://img.example/new/bytes?count=7").bytes == 7)
        #expect(try await failure(of: "http://img.example/bytes", with: fetcher).code == .sourceUnreachable)
        // Redirects are not rewritten.
        let url = "http://img.example/new/redirect?to=\(origin.url("/bytes?count=7"))"
        #expect(try await fetcher.fetch(url).bytes == 7)
    }

    @Test
    func aFailureNamesBoth() async throws {
        let fetcher = try fetcher("http://img.example/=\(origin.url("/"))")
        let failure = try await failure(of: "http://img.example/status/503?after=4", with: fetcher)
        let target = origin.url("/status/503?after=4")
        #expect(failure.message.hasPrefix("GET \(target) answered 503 Service Unavailable"))
        #expect(failure.message.hasSuffix("(rewritten from http://img.example/status/503?after=4)"))
        #expect(failure.isRetryable)
        #expect(failure.retryAfter == .seconds(4))
    }

    @Test
    func theGuardJudgesWhatResults() async throws {
        let rewrite = try SourceRewrite(parsing: "http://img.example/=\(origin.url("/"))")
        let fetcher = try Fetcher(FetchConfiguration().with(\.rewrites, [rewrite]))
        let failure = try await failure(of: "http://img.example/bytes", with: fetcher)
        #expect(failure.code == .sourceForbidden)
        #expect(failure.message.contains("--allow-host 127.0.0.1"))
    }

    @Test
    func aCopyOnDiskIsReadBelowAllowedFoldersOnly() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Data("a picture".utf8), to: "a b.jpg")
        let rewrite = "http://img.example/=file://\(folder.path)/"
        let allowed = try fetcher(rewrite, root: folder.path)
        #expect(try await allowed.fetch("http://img.example/a%20b.jpg").contents() == Data("a picture".utf8))
        let failure = try await failure(of: "http://img.example/a%20b.jpg", with: fetcher(rewrite))
        #expect(failure.code == .sourceForbidden)
        #expect(failure.message.contains("rewritten from http://img.example/a b.jpg"))
    }

    @Test(arguments: [
        "../secret.jpg", "a/../../secret.jpg", "%2e%2E/secret.jpg", "a/..%2fsecret.jpg", "..\\secret.jpg", "..",
    ])
    func noSourceClimbsOutOfWhatTakesItsPrefixsPlace(path: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write(Data("a secret".utf8), to: "secret.jpg")
        let onDisk = try fetcher("http://img.example/=file://\(folder.path)/public/", root: folder.path)
        let onMirror = try fetcher("http://img.example/=\(origin.url("/public/"))")
        for fetcher in [onDisk, onMirror] {
            let failure = try await failure(of: "http://img.example/\(path)", with: fetcher)
            #expect(failure.code == .sourceForbidden)
            #expect(failure.message.contains("may have no .. in its path"))
        }
    }

    @Test
    func dotsBehindThePathAreNobodysBusiness() async throws {
        let fetcher = try fetcher("http://img.example/=\(origin.url("/"))")
        #expect(try await fetcher.fetch("http://img.example/bytes?count=7&x=/../#/../").bytes == 7)
    }

    @Test(arguments: ["http://img.example.attacker.invalid/a", "http://img.exampl/", "https://img.example/a"])
    func otherHostsAndSchemesKeepTheirPlace(source: String) async throws {
        let fetcher = try fetcher("http://img.example/=\(origin.url("/"))")
        let failure = try await failure(of: source, with: fetcher)
        #expect(!failure.message.contains("rewritten"))
        #expect(!failure.message.contains("\(origin.port)"))
    }

    @Test(arguments: [
        "", "http://a/", "http://a/=", "http://a/=b/", "http://a=http://b/", "http://a/=http://b",
        "ftp://a/=http://b/", "http://a/=data:,", "http://a/?u=http://b/", "http://u:p@a/=http://b/",
        "http://a/=http://b:port/", "http://a/=http:/b/", "data:,=http://b/", "http://a /=http://b/",
    ])
    func whatIsNoRewritingIsRefused(text: String) {
        let error = #expect(throws: FetchConfigurationError.self) { try SourceRewrite(parsing: text) }
        #expect(error?.description.hasPrefix("the rewriting ") == true)
    }

    @Test
    func onePrefixTwiceIsRefused() {
        #expect(throws: FetchConfigurationError.rewrite("http://a/", reason: "is there twice")) {
            try fetcher("http://a/=http://b/", "HTTP://A/=http://c/")
        }
    }
}
