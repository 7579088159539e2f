import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct BackfillTests {
    private static let gallery = [Rendition(name: "grid", width: 64, height: 64), Rendition(name: "view", width: 512)]
    private let fixture: StoreFixture

    init() async throws {
        fixture = try await StoreFixture()
    }

    private func source(_ number: Int) -> String { "https://shop.example/\(number).jpg" }

    /// Makes the thumbnails of sources as a worker does.
    private func make(
        _ sources: [String],
        _ renditions: [Rendition] = Self.gallery,
        version: String = "test-1",
        bytes: Data = Data("thumbnail".utf8),
        video: VideoFacts? = nil,
        headers: [String: String] = [:]
    ) async throws {
        _ = try await fixture.store.enqueue(
            sources.map { ThumbnailRequest(source: $0, renditions: renditions, headers: headers) }
        )
        for job in try await fixture.store.claim(limit: sources.count, for: "w1") {
            let source = try SourceIdentity(of: try job.parsedRequest().source)
            let provenance = Provenance(
                source: source,
                sourceDigest: SHA256.digest(of: Data("picture".utf8)),
                sourceSeen: 1,
                rendererVersion: version,
                picture: PictureFacts(format: .jpeg, width: 640, height: 480, pages: 1, hasAlpha: false, video: video),
                isTruncated: false
            )
            let product = JobProduct.rendered(try StoreFixture.rendered(job, bytes: bytes), provenance)
            try await fixture.store.complete(job.claim, with: product, timings: AttemptTimings())
        }
    }

    private func backfill(
        _ wanted: [Rendition] = Self.gallery,
        listed: [Rendition] = [],
        version: String? = "test-1",
        select: (inout KnownSourceSelection) -> Void = { _ in }
    ) -> Backfill {
        var selection = KnownSourceSelection()
        select(&selection)
        let rules = BackfillRules(wanted: wanted, listed: listed, rendererVersion: version)
        return Backfill(in: fixture.store, of: selection, by: rules)
    }

    /// The sources of the jobs in the queue, each with the names of its renditions.
    private func enqueued() async throws -> [String: [String]] {
        let requests = try await fixture.store.read { db in
            try db.column("SELECT request FROM job JOIN task ON task.id = job.id") as [String]
        }
        let pairs = try requests.map { text in
            let request = try ThumbnailRequest(parsing: text.utf8)
            #expect(request.queue == "backfill")
            return (request.source, request.renditions.map(\.name))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test func exactlyWhatIsMissingOrStaleIsEnqueued() async throws {
        try await make((0..<450).map(source))
        // Of other versions, one of them for one rendition only.
        try await make([source(450), source(451)], version: "test-0")
        try await fixture.sql(
            """
            UPDATE thumbnail SET renderer_version = 'test-0'
              WHERE source = 'https://shop.example/7.jpg' AND rendition::text LIKE '%512%';
            DELETE FROM thumbnail WHERE source = 'https://shop.example/201.jpg' AND rendition::text LIKE '%512%'
            """
        )
        // Made when the preset defined the grid otherwise.
        try await make([source(452)], [Rendition(name: "grid", width: 32, height: 32), Self.gallery[1]])
        let backfill = backfill()
        let survey = try await backfill.survey()
        #expect((survey.sources, survey.jobs, survey.fresh) == (453, 5, 2 * 453 - 7))
        #expect((survey.missing, survey.changed, survey.outdated, survey.damaged) == (1, 1, 5, 0))
        #expect(try await enqueued().isEmpty, "a survey changes nothing")
        let counts = try await backfill.run()
        #expect((counts.jobs, counts.joined) == (5, 0))
        let jobs = [
            source(7): ["view"], source(201): ["view"], source(450): ["grid", "view"], source(451): ["grid", "view"],
            source(452): ["grid"],
        ]
        #expect(try await enqueued() == jobs)
        // As after a kill, while one of the jobs runs.
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
        let again = try await backfill.run()
        #expect((again.jobs, again.joined) == (5, 5))
        #expect(try await enqueued() == jobs)
        let queue = try await fixture.store.queue("backfill")
        #expect(queue.isBackground && queue.jobs[.available] == 4 && queue.jobs[.running] == 1)
    }

    @Test func anyVersionWillDoIfTheCurrentOneIsUnknown() async throws {
        try await make([source(0)], version: "test-0")
        #expect(try await backfill(version: nil).survey().fresh == 2)
    }

    /// That of `cameo-frames` is known from the newest thumbnail of a video.
    @Test func framesOfAnotherVersionThanTheNewestAreOutdated() async throws {
        let video = VideoFacts(duration: 4, time: 0, codec: .h264, rotation: 0, hasAudio: false)
        func outdated(_ version: String) async throws -> Int {
            try await backfill(version: version).survey().outdated
        }
        try await make([source(0)])
        try await make([source(1), source(2)], version: "test-1 frames-1 libavcodec-59", video: video)
        #expect(try await outdated("test-1") == 0)
        #expect(try await outdated("test-10") == 6)
        #expect(try await outdated("test") == 6)
        fixture.clock.advance(seconds: 1)
        try await make([source(3)], version: "test-1 frames-1 libavcodec-60", video: video)
        #expect(try await outdated("test-1") == 4)
        // What the next renderer has made of videos is not known yet.
        fixture.clock.advance(seconds: 1)
        try await make([source(4)], version: "test-2")
        #expect(try await outdated("test-2") == 8)
        fixture.clock.advance(seconds: 1)
        try await make([source(5)], version: "test-2 frames-1 libavcodec-60", video: video)
        #expect(try await outdated("test-2") == 8)
    }

    @Test func damagedBytesAreMadeAgainIfTheyAreVerified() async throws {
        try await make([source(0)])
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await make([source(1), source(2)], bytes: large)
        #expect(try await backfill().survey().damaged == 0)
        let digest = SHA256.digest(of: large)
        try await fixture.sql("UPDATE blob SET data = set_byte(data, 0, 99) WHERE digest = '\(digest.hex)'")
        #expect(try await backfill().survey().damaged == 0)
        #expect(try await backfill { $0.verifiesBytes = true }.run().damaged == 4)
        #expect(try await Set(enqueued().keys) == [source(1), source(2)])
    }

    /// Sources are sorted by their beginnings, which an index has, and then by all of them.
    @Test func longSourcesArePagedInTheirOrder() async throws {
        let long = "https://shop.example/" + String(repeating: "a", count: 600)
        let sources = [
            source(0), long, long + "0", long + "/b", long + "b",
            "https://shop.example/" + String(repeating: "b", count: 9),
        ]
        try await make(sources.shuffled(), [Rendition(width: 9)])
        var (found, cursor) = ([String](), String?.none)
        repeat {
            let page = try await fixture.store.knownSources(KnownSourceSelection(), after: cursor, limit: 2)
            found += page.sources.map(\.source)
            cursor = page.next
        } while cursor != nil
        #expect(found == sources.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        var selection = KnownSourceSelection()
        selection.prefix = long
        #expect(try await fixture.store.knownSources(selection, after: nil, limit: 9).sources.count == 4)
    }

    @Test func aStaleThumbnailOfUnchangingBytesStillNeedsAJob() async throws {
        let digest = try await fixture.store.store(Data("upload".utf8), mediaType: nil)
        try await make([CameoURI.blob(digest).text], version: "test-0")
        #expect(try await backfill().run().jobs == 1)
        #expect(try await enqueued().count == 1)
    }

    @Test func sourcesThatCannotBeReadAgainAreLeftAlone() async throws {
        try await make([source(0)], version: "test-0", headers: ["Authorization": "Bearer secret"])
        let gone = CameoURI.blob(SHA256.digest(of: Data("collected".utf8))).text
        try await make([gone], version: "test-0")
        let counts = try await backfill().run()
        #expect((counts.sources, counts.privateSources, counts.goneSources, counts.jobs) == (2, 1, 1, 0))
        // Public and private thumbnails of one source.
        try await make([source(0)])
        try await make([source(0)], [Rendition(width: 9)], headers: ["Authorization": "Bearer secret"])
        let mixed = try await backfill().survey()
        #expect((mixed.privateSources, mixed.fresh, mixed.jobs) == (0, 2, 0))
    }

    @Test func sourcesAreSelectedByTheirBeginningAndAge() async throws {
        try await make([source(0)], [Rendition(width: 9)])
        fixture.clock.advance(seconds: 3_600)
        let later = fixture.clock.now
        try await make([source(1), "file:///a.jpg", "https://shop.example.org/"], [Rendition(width: 9)])
        // What an old source gains later does not make it new.
        try await make([source(0)], [Rendition(width: 10)])
        func selected(_ select: (inout KnownSourceSelection) -> Void) async throws -> Int {
            try await backfill(select: select).survey().jobs
        }
        #expect(try await selected { _ in } == 4)
        #expect(try await selected { $0.prefix = "https://shop.example/" } == 2)
        #expect(try await selected { $0.prefix = "https://shop.example" } == 3)
        #expect(try await selected { $0.prefix = "HTTPS" } == 0)
        #expect(try await selected { $0.since = later } == 3)
        #expect(try await selected { ($0.since, $0.prefix) = (later, "https://shop.example/") } == 1)
    }

    @Test func unlistedThumbnailsGoOnceAllRenditionsExist() async throws {
        let old = Rendition(name: "grid", width: 32, height: 32)
        let avatar = Rendition(name: "avatar", width: 48)
        try await make([source(0)], [old, avatar])
        try await make([source(0)])
        try await make([source(1)], [old, Self.gallery[1]])
        let backfill = backfill(listed: [avatar])
        #expect(try await backfill.survey().unlisted == 1)
        #expect(try await backfill.run().removed == 0)
        // A job that is made of an unlisted thumbnail keeps it.
        let thumbnail = try StoreFixture.request(source(0)) { $0.renditions = [old] }.thumbnailIDs()[0]
        let request = StoreFixture.request(CameoURI.thumbnail(thumbnail).text)
        let user = try await fixture.store.enqueue([request])[0]
        #expect(try await backfill.run(unlisted: .removed).removed == 0)
        _ = try await fixture.store.cancel(try user.jobID)
        #expect(try await backfill.run(unlisted: .removed).removed == 1)
        #expect(try await !fixture.isThere(thumbnail))
        let left = try await fixture.store.read { db in
            try db.column("SELECT rendition ->> 'name' FROM thumbnail ORDER BY 1") as [String]
        }
        #expect(left == ["avatar", "grid", "grid", "view", "view"])
    }

    @Test func privateThumbnailsOfAPresetAreListedToo() async throws {
        let secret = ["Authorization": "Bearer secret"]
        try await make([source(0)])
        try await make([source(0)], Self.gallery, headers: secret)
        #expect(try await backfill().survey().unlisted == 0)
    }
}
