import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Pictures that a program hands over under a name of its own.
@Suite(.timeLimit(.minutes(10)))
struct CacheKeyTests {
    private let bench: Workbench
    private let client: Client
    private let renditions = [Rendition(width: 64)]

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    @Test func thumbnailsKeepTheirURIsWhenOtherBytesAreHandedOver() async throws {
        let first = try await client.enqueue(
            data: Workbench.picture(1),
            renditions: renditions,
            cacheKey: "user:42/a b"
        )
        #expect(first.source == "cameo://source/user%3A42%2Fa%20b")
        let source = try #require(CameoURI(first.source))
        #expect(try await client.data(for: source) == Workbench.picture(1))
        let second = try await client.enqueue(
            data: Workbench.picture(2),
            renditions: renditions,
            cacheKey: "user:42/a b"
        )
        #expect(try await client.data(for: source) == Workbench.picture(2))
        // The job that waits makes them of whatever is newest when it begins.
        #expect(second.thumbnails == first.thumbnails && second.id == first.id && second.outcome == .joined)
        // Known without handing anything over, too.
        let named = try await client.enqueue(ThumbnailRequest(source: source, renditions: renditions))
        #expect(named.thumbnails == first.thumbnails)
        let other = try await client.enqueue(data: Workbench.picture(1), renditions: renditions, cacheKey: "user:43")
        #expect(other.thumbnails != first.thumbnails)
    }

    @Test func theRestOfTheRequestIsKept() async throws {
        var request = ThumbnailRequest(renditions: renditions)
        request.batch = "avatars"
        request.runAt = Date(timeIntervalSinceNow: 3_600)
        let job = try await client.enqueue(request, data: Workbench.picture(1), cacheKey: "key")
        #expect(job.state == .scheduled && job.source == "cameo://source/key")
        let keyless = try await client.enqueue(request, data: Workbench.picture(1))
        #expect(keyless.source.hasPrefix("cameo://blob/sha256-"))
    }

    /// Invariant I4: a job that read the older bytes and ends last does not win.
    @Test func newerBytesWinAlsoWhenTheOlderJobEndsLast() async throws {
        let worker = try await bench.register()
        let job = try await client.enqueue(data: Workbench.picture(1), renditions: renditions, cacheKey: "key")
        let slow = try await bench.begin(worker)
        _ = try await client.enqueue(data: Workbench.picture(2), renditions: renditions, cacheKey: "key")
        let quick = try await bench.begin(worker)
        try await bench.complete(quick, with: Workbench.picture(20))
        try await bench.complete(slow, with: Workbench.picture(10))
        #expect(try await client.data(for: job.thumbnails[0].uri) == Workbench.picture(20))
    }

    @Test func whatIsHandedOverIsServedByItsName() async throws {
        let job = try await client.enqueue(data: Workbench.picture(1), renditions: renditions, cacheKey: "ключ")
        let source = try #require(CameoURI(job.source))
        let (data, response) = try await URLSession.cameo(client).data(from: source.url)
        let headers = try #require(response as? HTTPURLResponse)
        #expect(data == Workbench.picture(1) && response.mimeType == "image/webp")
        // Other bytes may come at any time.
        #expect(headers.value(forHTTPHeaderField: "Cache-Control") == "no-cache")
    }

    @Test func whatIsForgottenIsGone() async throws {
        let worker = try await bench.register()
        let job = try await client.enqueue(data: Workbench.picture(1), renditions: renditions, cacheKey: "key")
        try await bench.work(worker) { _ in Workbench.picture(2) }
        let (source, thumbnail) = (try #require(CameoURI(job.source)), job.thumbnails[0].uri)
        #expect(try await client.forget("other") == client.forget("another", .originalsAndThumbnails))
        let originals = try await client.forget("key")
        #expect(originals.originals == 1 && originals.bytes == 4_000 && originals.thumbnails == 0)
        await #expect(throws: CameoURLError.noDataAvailable(source.description)) { try await client.data(for: source) }
        #expect(try await client.data(for: thumbnail) == Workbench.picture(2))
        #expect(try await client.forget("key", .originalsAndThumbnails).thumbnails == 1)
        await #expect(throws: CameoURLError.noDataAvailable(thumbnail.description)) {
            try await client.data(for: thumbnail)
        }
    }

    @Test(arguments: [
        "", "a\nb", "a\u{0}", "\u{85}", String(repeating: "a", count: 2_049), "cameo://thumb/1", "http://a/b",
        "HTTPS://a",
        "file:///a", "data:,a", "initials:A",
    ])
    func aKeyThatCouldStandForAnythingElseIsRefused(key: String) async throws {
        try await expectInvalid("cacheKey") {
            _ = try await client.enqueue(data: Workbench.picture(1), renditions: renditions, cacheKey: key)
        }
        await #expect(throws: CameoError.noSuchJob(1)) { try await client.status(of: 1) }
    }

    @Test(arguments: ["user:42", "a", "http", "../x", "a%2Fb", String(repeating: "я", count: 1_024)])
    func anyOtherKeyIsTaken(key: String) async throws {
        let job = try await client.enqueue(data: Workbench.picture(1), renditions: renditions, cacheKey: key)
        #expect(try await client.data(for: try #require(CameoURI(job.source))) == Workbench.picture(1))
    }
}
