import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    static let backfills: [ConformanceCase] = [
        ConformanceCase("exactly what is missing or stale is enqueued") { fixture in
            try await fixture.make((0..<450).map(source))
            // Of other versions, one of them for one rendition only.
            try await fixture.make([source(450), source(451)], version: "test-0")
            try await fixture.sql(
                """
                UPDATE thumbnail SET renderer_version = 'test-0'
                  WHERE source = 'https://shop.example/7.jpg' AND cast(rendition AS text) LIKE '%512%';
                DELETE FROM thumbnail
                  WHERE source = 'https://shop.example/201.jpg' AND cast(rendition AS text) LIKE '%512%'
                """
            )
            // Made when the preset defined the grid otherwise.
            try await fixture.make([source(452)], [Rendition(name: "grid", width: 32, height: 32), Fixture.gallery[1]])
            let backfill = fixture.backfill()
            let survey = try await backfill.survey()
            #expect((survey.sources, survey.jobs, survey.fresh) == (453, 5, 2 * 453 - 7))
            #expect((survey.missing, survey.changed, survey.outdated, survey.damaged) == (1, 1, 5, 0))
            #expect(try await fixture.enqueued().isEmpty, "a survey changes nothing")
            let counts = try await backfill.run()
            #expect((counts.jobs, counts.joined) == (5, 0))
            let jobs = [
                source(7): ["view"], source(201): ["view"], source(450): ["grid", "view"],
                source(451): ["grid", "view"], source(452): ["grid"],
            ]
            #expect(try await fixture.enqueued() == jobs)
            // As after a kill, while one of the jobs runs.
            #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
            let again = try await backfill.run()
            #expect((again.jobs, again.joined) == (5, 5))
            #expect(try await fixture.enqueued() == jobs)
            let queue = try await fixture.store.queue("backfill")
            #expect(queue.isBackground && queue.jobs[.available] == 4 && queue.jobs[.running] == 1)
        },
        ConformanceCase("any version will do if the current one is unknown") { fixture in
            try await fixture.make([source(0)], version: "test-0")
            #expect(try await fixture.backfill(version: nil).survey().fresh == 2)
        },
        ConformanceCase("frames of another version than the newest are outdated") { fixture in
            // That of `cameo-frames` is known from the newest thumbnail of a video.
            let video = VideoFacts(duration: 4, time: 0, codec: .h264, rotation: 0, hasAudio: false)
            try await fixture.make([source(0)])
            try await fixture.make([source(1), source(2)], version: "test-1 frames-1 libavcodec-59", video: video)
            #expect(try await fixture.outdated("test-1") == 0)
            #expect(try await fixture.outdated("test-10") == 6)
            #expect(try await fixture.outdated("test") == 6)
            fixture.clock.advance(seconds: 1)
            try await fixture.make([source(3)], version: "test-1 frames-1 libavcodec-60", video: video)
            #expect(try await fixture.outdated("test-1") == 4)
            // What the next renderer has made of videos is not known yet.
            fixture.clock.advance(seconds: 1)
            try await fixture.make([source(4)], version: "test-2")
            #expect(try await fixture.outdated("test-2") == 8)
            fixture.clock.advance(seconds: 1)
            try await fixture.make([source(5)], version: "test-2 frames-1 libavcodec-60", video: video)
            #expect(try await fixture.outdated("test-2") == 8)
        },
        ConformanceCase("long sources are paged in their order") { fixture in
            // Sources are sorted by their beginnings, which an index has, and then by all of them.
            let long = "https://shop.example/" + String(repeating: "a", count: 600)
            let sources = [
                source(0), long, long + "0", long + "/b", long + "b",
                "https://shop.example/" + String(repeating: "b", count: 9),
            ]
            try await fixture.make(sources.shuffled(), [Rendition(width: 9)])
            var (found, cursor) = ([String](), String?.none)
            repeat {
                let page = try await fixture.store.knownSources(KnownSourceSelection(), after: cursor, limit: 2)
                found += page.sources.map(\.source)
                cursor = page.next
            } while cursor != nil && found.count < 100
            #expect(found == sources.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            var selection = KnownSourceSelection()
            selection.prefix = long
            #expect(try await fixture.store.knownSources(selection, after: nil, limit: 9).sources.count == 4)
            selection.isOfNames = true
            let names = try await fixture.store.knownSources(selection, after: long, limit: 2)
            #expect(names.sources.map(\.source) == [long + "/b", long + "0"] && names.next == long + "0")
            #expect(names.sources.allSatisfy(\.thumbnails.isEmpty) && names.newestVideoVersion == nil)
        },
        ConformanceCase("a stale thumbnail of unchanging bytes still needs a job") { fixture in
            let digest = try await fixture.store.store(Data("upload".utf8), mediaType: nil)
            try await fixture.make([CameoURI.blob(digest).text], version: "test-0")
            #expect(try await fixture.backfill().run().jobs == 1)
            #expect(try await fixture.enqueued().count == 1)
        },
        ConformanceCase("sources that cannot be read again are left alone") { fixture in
            try await fixture.make([source(0)], version: "test-0", headers: ["Authorization": "Bearer secret"])
            let gone = CameoURI.blob(BlobDigest(of: Data("collected".utf8))).text
            try await fixture.make([gone], version: "test-0")
            let counts = try await fixture.backfill().run()
            #expect((counts.sources, counts.privateSources, counts.goneSources, counts.jobs) == (2, 1, 1, 0))
            // Public and private thumbnails of one source.
            try await fixture.make([source(0)])
            try await fixture.make([source(0)], [Rendition(width: 9)], headers: ["Authorization": "Bearer secret"])
            let mixed = try await fixture.backfill().survey()
            #expect((mixed.privateSources, mixed.fresh, mixed.jobs) == (0, 2, 0))
        },
        ConformanceCase("sources are selected by their beginning and age") { fixture in
            try await fixture.make([source(0)], [Rendition(width: 9)])
            fixture.clock.advance(seconds: 3_600)
            let later = fixture.clock.now
            try await fixture.make([source(1), "file:///a.jpg", "https://shop.example.org/"], [Rendition(width: 9)])
            // What an old source gains later does not make it new.
            try await fixture.make([source(0)], [Rendition(width: 10)])
            #expect(try await fixture.selected { _ in } == 4)
            #expect(try await fixture.selected { $0.prefix = "https://shop.example/" } == 2)
            #expect(try await fixture.selected { $0.prefix = "https://shop.example" } == 3)
            #expect(try await fixture.selected { $0.prefix = "HTTPS" } == 0)
            #expect(try await fixture.selected { $0.since = later } == 3)
            #expect(try await fixture.selected { ($0.since, $0.prefix) = (later, "https://shop.example/") } == 1)
        },
        ConformanceCase("unlisted thumbnails go once all renditions exist") { fixture in
            let old = Rendition(name: "grid", width: 32, height: 32)
            let avatar = Rendition(name: "avatar", width: 48)
            try await fixture.make([source(0)], [old, avatar])
            try await fixture.make([source(0)])
            try await fixture.make([source(1)], [old, Fixture.gallery[1]])
            let backfill = fixture.backfill(listed: [avatar])
            #expect(try await backfill.survey().unlisted == 1)
            #expect(try await backfill.run().removed == 0)
            // A job that is made of an unlisted thumbnail keeps it.
            let thumbnail = try Fixture.request(source(0)) { $0.renditions = [old] }.thumbnailIDs()[0]
            let request = Fixture.request(CameoURI.thumbnail(thumbnail).text)
            let user = try await fixture.store.enqueue([request])[0]
            #expect(try await backfill.run(unlisted: .removed).removed == 0)
            _ = try await fixture.store.cancel(try user.jobID)
            #expect(try await backfill.run(unlisted: .removed).removed == 1)
            #expect(try await !fixture.isThere(thumbnail))
            let known = try await fixture.store.knownSources(KnownSourceSelection(), after: nil, limit: 9)
            let left = try known.sources.flatMap(\.thumbnails).map { thumbnail in
                try Rendition(json: JSONValue(parsing: thumbnail.rendition), at: "").name
            }
            #expect(left.sorted() == ["avatar", "grid", "grid", "view", "view"])
        },
        ConformanceCase("private thumbnails of a preset are listed too") { fixture in
            let secret = ["Authorization": "Bearer secret"]
            try await fixture.make([source(0)])
            try await fixture.make([source(0)], Fixture.gallery, headers: secret)
            #expect(try await fixture.backfill().survey().unlisted == 0)
        },
    ]

    private static func source(_ number: Int) -> String { Fixture.shopSource(number) }
}

extension Fixture {
    /// How many thumbnails are outdated for a renderer.
    fileprivate func outdated(_ version: String) async throws -> Int {
        try await backfill(version: version).survey().outdated
    }

    /// How many jobs the selected sources need.
    fileprivate func selected(_ select: (inout KnownSourceSelection) -> Void) async throws -> Int {
        try await backfill(select: select).survey().jobs
    }
}
