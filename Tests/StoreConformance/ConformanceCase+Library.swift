import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// What is known of thumbnails whatever became of their jobs.
    static let library: [ConformanceCase] = [
        ConformanceCase("a thumbnail is promised from acceptance to the end of its job") { fixture in
            try await fixture.register()
            let ids = try Fixture.request(0) { $0.renditions = Fixture.gallery }.thumbnailIDs()
            #expect(try await fixture.store.promise(of: ids[0]) == nil)
            try await fixture.enqueue { $0.renditions = Fixture.gallery }
            for id in ids { #expect(try await fixture.store.promise(of: id) == Promise(job: 1, code: nil)) }
            let corrupt = JobFailure(.imageCorrupt, at: .render, "as the test wants it")
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.settle(job.claim, as: .discard(corrupt), timings: AttemptTimings())
            #expect(try await fixture.store.promise(of: ids[1]) == Promise(job: 1, code: .imageCorrupt))

            _ = try await fixture.store.retry(1)
            #expect(try await fixture.store.promise(of: ids[1]) == Promise(job: 1, code: nil))
            let again = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            let product = JobProduct.rendered(try Fixture.rendered(again), try Fixture.provenance())
            try await fixture.store.settle(again.claim, as: .complete(product), timings: AttemptTimings())
            for id in ids { #expect(try await fixture.store.promise(of: id) == nil) }
            #expect(try await fixture.sql("SELECT count(*) FROM promise") == "0")
        },
        ConformanceCase("of two jobs the one that has not ended promises; a cancelled one promises nothing") {
            fixture in
            try await fixture.register()
            let id = try Fixture.request().thumbnailIDs()[0]
            try await fixture.enqueueDuplicate()
            let first = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.enqueueDuplicate()
            let crash = JobFailure(.renderCrashed, at: .render, "as the test wants it")
            try await fixture.store.settle(first.claim, as: .discard(crash), timings: AttemptTimings())
            #expect(try await fixture.store.promise(of: id) == Promise(job: 2, code: nil))
            _ = try await fixture.store.cancel(2)
            #expect(try await fixture.store.promise(of: id) == Promise(job: 1, code: .renderCrashed))
            fixture.clock.advance(seconds: 604_800)
            try await fixture.prune(.forever)
            #expect(try await fixture.store.promise(of: id) == nil)
        },
        ConformanceCase("a thumbnail has the labels of all requests that named it, and keeps them") { fixture in
            try await fixture.register()
            let id = try Fixture.request().thumbnailIDs()[0]
            try await fixture.enqueueDuplicate { $0.labels = ["user:42", "user:42", "album:7"] }
            try await fixture.enqueueDuplicate {
                $0.labels = ["user:43"]
                $0.batch = "holiday"
            }
            #expect(try await fixture.store.facts(of: [id]) == [])
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            let product = JobProduct.rendered(try Fixture.rendered(job), try Fixture.provenance())
            try await fixture.store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
            try await fixture.enqueueDuplicate {
                $0.labels = ["late"]
                $0.refresh = .never
            }
            fixture.clock.advance(seconds: 60)
            var retention = Retention.forever
            retention.completed = .seconds(1)
            #expect(try await fixture.prune(retention).completed == 1)

            let facts = try #require(try await fixture.store.facts(of: [id]).first)
            #expect(facts.labels == ["album:7", "late", "user:42", "user:43"])
            #expect((facts.source, facts.job) == ("file:///pictures/a.jpg", nil))
            #expect(facts.thumbnail.uri == .thumbnail(id) && facts.thumbnail.source?.width == 640)
            for select: (inout ThumbnailFilter) -> Void in [
                { $0.label = "user:43" }, { $0.batch = "holiday" }, { $0.source = "file:///pictures/a.jpg" },
                { $0.sourcePrefix = "file:///pict" }, { $0.sourceDigest = facts.sourceDigest }, { _ in },
                {
                    $0.label = "late"
                    $0.sourcePrefix = "file:"
                },
            ] {
                #expect(try await fixture.thumbnails(select) == [id])
            }
            for select: (inout ThumbnailFilter) -> Void in [
                { $0.label = "user:4" }, { $0.batch = "user:43" }, { $0.sourcePrefix = "https:" },
                { $0.sourceDigest = id.text }, { $0.since = .distantFuture },
            ] {
                #expect(try await fixture.thumbnails(select) == [])
            }
            let shown =
                "SELECT thumbnail_facts.id FROM thumbnail_facts JOIN thumbnail_labels USING (id) WHERE label = 'late'"
            #expect(try await fixture.sql(shown) == id.text)
            #expect(try await fixture.sql("SELECT id, batch FROM thumbnail_batches") == "\(id.text)|holiday")

            #expect(try await fixture.store.removeThumbnails([id]) == 1)
            #expect(try await fixture.sql("SELECT count(*) FROM thumbnail_label") == "0")
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("that a request without labels named a thumbnail is known where others have some") { fixture in
            try await fixture.register()
            let without = "SELECT count(*) FROM thumbnail_label WHERE label = 0"
            try await fixture.enqueueDuplicate()
            #expect(try await fixture.sql(without) == "0")
            try await fixture.enqueueDuplicate { $0.labels = ["a"] }
            #expect(try await fixture.sql(without) == "1", "the first request had none")
            try await fixture.enqueue { $0.labels = ["a"] }
            #expect(try await fixture.sql(without) == "1", "nobody else named this one")
            _ = try await fixture.store.enqueue([Fixture.request(0)])
            #expect(try await fixture.sql(without) == "2")
        },
        ConformanceCase("the thumbnails of an upload are known once a worker has read it, before it runs") { fixture in
            try await fixture.register()
            let request = #"{"renditions":[{"width":64,"height":64}]}"#
            let shown =
                "SELECT count(*) FROM job_status WHERE CAST(thumbnails AS text) LIKE '%cameo://thumb/%' AND id ="
            for _ in 0..<2 {
                try await fixture.upload(Data("GIF89a".utf8), request, ["name": "a b", "labels": #"["u"]"#])
            }
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.sql("\(shown) 1") == "0")
            try await fixture.store.readUploads()
            let name = CameoURI.blob(BlobDigest(of: Data("GIF89a".utf8)))
            let id = try Fixture.request(name.text).thumbnailIDs()[0]
            #expect(try await fixture.sql("\(shown) 1") == "1")
            #expect(try await fixture.store.promise(of: id) == Promise(job: 1, code: nil))
            #expect(
                try await fixture.sql("SELECT count(*) FROM upload WHERE data IS NULL AND digest IS NOT NULL") == "2"
            )
            let second = try await fixture.store.job(2)
            #expect((second.state, second.supersededBy) == (.cancelled, 1))
            let job = try #require(try await fixture.claim(5).first)
            #expect(job.uploadedBytes == nil)
            let parsed = try job.parsedRequest()
            #expect((parsed.source, parsed.labels) == (name.text, ["u"]))
            #expect(parsed.metadata == ["name": "a b"])
            try await fixture.complete(job)
            #expect(try await fixture.store.facts(of: [id]).first?.labels == ["u"])
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("the thumbnails of an upload with a name are known beforehand") { fixture in
            try await fixture.register()
            let request = #"{"renditions":[{"width":64,"height":64}]}"#
            let id = try Fixture.request(CameoURI.source("user:42/avatar").text).thumbnailIDs()[0]
            try await fixture.upload(Data("GIF89a".utf8), request, ["cacheKey": "user:42/avatar"])
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.store.promise(of: id) == Promise(job: 1, code: nil))
            try await fixture.store.readUploads()
            let job = try #require(try await fixture.claim(5).first)
            #expect(try job.parsedRequest().source == "cameo://source/user%3A42%2Favatar")
            try await fixture.complete(job)
            #expect(try await fixture.store.made(id) != nil)
            #expect(try await fixture.store.data(of: .source("user:42/avatar")) == Data("GIF89a".utf8))

            // Other bytes under the same name.
            try await fixture.upload(Data("GIF87a".utf8), request, ["cacheKey": "user:42/avatar"])
            try await fixture.engine.acceptArrivals(in: fixture.store)
            let again = try #require(try await fixture.claim(5).first)
            #expect(again.uploadedBytes == 6)
            #expect(try await fixture.store.absorbUpload(again).source == "cameo://source/user%3A42%2Favatar")
            #expect(try await fixture.store.data(of: .source("user:42/avatar")) == Data("GIF87a".utf8))
            for columns in [["cacheKey": "file:///etc"], ["cacheKey": ""]] {
                try await fixture.upload(Data("GIF89a".utf8), request, columns)
            }
            try await fixture.engine.acceptArrivals(in: fixture.store)
            for id in [3, 4] as [Int64] {
                #expect(try await fixture.store.job(id).failure?.message.contains("cacheKey") == true)
            }
            for columns in [["labels": #""u""#], ["labels": "7"]] {
                await #expect(throws: (any Error).self) {
                    try await fixture.upload(Data("GIF89a".utf8), request, columns)
                }
            }
            let named = #"{"renditions":[{"width":64}],"metadata":{"a":1},"labels":["v"]}"#
            for columns in [["name": "a"], ["labels": "[]"]] {
                await #expect(throws: (any Error).self) {
                    try await fixture.upload(Data("GIF89a".utf8), named, columns)
                }
            }
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("pages of thumbnails have each once") { fixture in
            try await fixture.register()
            let sources = (0..<23).map { "https://user:secret@shop.example/\($0).jpg" }
            try await fixture.make(sources)
            let expected = Set(
                try sources.flatMap { source in
                    try Fixture.request(source) { $0.renditions = Fixture.gallery }.thumbnailIDs()
                }
            )
            for select: (inout ThumbnailFilter) -> Void in [
                { _ in }, { $0.sourceDigest = BlobDigest(of: Data("picture".utf8)).hex }, { $0.since = .distantPast },
            ] {
                let listed = try await fixture.thumbnails(select, pages: 10)
                #expect(listed.count == 46 && Set(listed) == expected)
            }
            var filter = ThumbnailFilter()
            filter.source = sources[3]
            let page = try await fixture.store.thumbnails(where: filter, after: nil, limit: 10)
            #expect(page.thumbnails.map(\.thumbnail.name).sorted() == ["grid", "view"] && page.next == nil)
            #expect(page.thumbnails.allSatisfy { $0.source == "https://…@shop.example/3.jpg" })
            await #expect(throws: StoreError.self) {
                try await fixture.store.thumbnails(where: ThumbnailFilter(), after: "nonsense", limit: 1)
            }
        },
        ConformanceCase("pictures are listed once each, the last used first, also while they are used") { fixture in
            try await fixture.register()
            for name in ["0", "1", "2", "3", "Ein%20Bild_4"] {
                fixture.clock.advance(seconds: 1)
                try await fixture.make(["https://user:secret@shop.example/\(name).jpg"])
            }
            func use(_ number: Int) async throws {
                let id = try Fixture.request("https://user:secret@shop.example/\(number).jpg") {
                    $0.renditions = Fixture.gallery
                }
                .thumbnailIDs()[0]
                fixture.store.noteReading(of: .thumbnail(id))
                try await fixture.engine.recordReadings(of: fixture.store)
                fixture.clock.advance(seconds: 1)
            }
            fixture.clock.advance(seconds: Fixture.day)
            #expect(try await fixture.pictures(pages: 2) == ["Ein%20Bild_4", "3", "2", "1", "0"])
            // The last of the page before is used, and one that was still to come.
            let rest = try await fixture.pictures(pages: 2) { _ in
            } after: { last in
                if last == "3" { for number in [3, 1] { try await use(number) } }
            }
            #expect(rest == ["Ein%20Bild_4", "3", "2", "0"])
            var retention = Retention.forever
            retention.completed = .seconds(1)
            #expect(try await fixture.prune(retention).completed == 5)
            #expect(try await fixture.pictures(pages: 60) == ["1", "3", "Ein%20Bild_4", "2", "0"])

            for (part, found) in [
                ("SHOP.example/3", ["3"]), ("ein bild_", ["Ein%20Bild_4"]), ("n%20b", ["Ein%20Bild_4"]), ("d%4", []),
                ("secret", []), ("_", ["Ein%20Bild_4"]),
            ] {
                #expect(try await fixture.pictures { $0.sourcePart = part } == found, "\(part)")
            }
        },
        ConformanceCase("of a picture the last used thumbnail that matches is listed, and the others are beside it") {
            fixture in
            try await fixture.register()
            try await fixture.make(["file:///a.jpg", "file:///b.jpg", "file:///a.jpg2"])
            let (grid, view) = (Fixture.gallery[0], Fixture.gallery[1])
            for (rendition, name) in [(grid, "user:42"), (view, "late")] {
                fixture.clock.advance(seconds: 1)
                var request = ThumbnailRequest(source: "file:///a.jpg", renditions: [rendition])
                (request.labels, request.batch, request.refresh) = ([name], "album", .never)
                _ = try await fixture.store.enqueue([request])
            }
            #expect(try await fixture.pictures { $0.batch = "album" } == ["a"])
            #expect(try await fixture.pictures { ($0.batch, $0.label) = ("album", "user:42") } == ["a"])
            #expect(try await fixture.pictures { $0.label = "none" } == [])
            var filter = ThumbnailFilter()
            (filter.isOfPictures, filter.label) = (true, "user:42")
            let one = try #require(
                try await fixture.store.thumbnails(where: filter, after: nil, limit: 9).thumbnails.first
            )
            #expect(one.thumbnail.name == "grid")
            guard case .thumbnail(let id) = one.thumbnail.uri else { return }
            let beside = try Fixture.request("file:///a.jpg") { $0.renditions = Fixture.gallery }.thumbnailIDs()
            #expect(try await Set(fixture.thumbnails { $0.sibling = id }) == Set(beside))
            await #expect(throws: StoreError.self) {
                try await fixture.store.thumbnails(where: filter, after: id.text, limit: 1)
            }
        },
    ]
}

extension Fixture {
    /// The names of the sources of the pictures that a filter matches, from pages of this length; `act` is told the last of each.
    fileprivate func pictures(
        pages: Int = 50,
        _ select: (inout ThumbnailFilter) -> Void = { _ in },
        after act: (String) async throws -> Void = { _ in }
    ) async throws -> [String] {
        var filter = ThumbnailFilter()
        filter.isOfPictures = true
        select(&filter)
        var (found, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try await store.thumbnails(where: filter, after: cursor, limit: pages)
            found += page.thumbnails.map { String($0.source.split(separator: "/").last?.prefix { $0 != "." } ?? "") }
            if let last = found.last { try await act(last) }
            cursor = page.next
        } while cursor != nil
        return found
    }

    /// The thumbnails that a filter matches, from pages of this length.
    fileprivate func thumbnails(_ select: (inout ThumbnailFilter) -> Void, pages: Int = 50) async throws
        -> [ThumbnailID]
    {
        var filter = ThumbnailFilter()
        select(&filter)
        var (found, cursor): ([ThumbnailID], String?) = ([], nil)
        repeat {
            let page = try await store.thumbnails(where: filter, after: cursor, limit: pages)
            found += page.thumbnails.compactMap { if case .thumbnail(let id) = $0.thumbnail.uri { id } else { nil } }
            cursor = page.next
        } while cursor != nil
        return found
    }
}
