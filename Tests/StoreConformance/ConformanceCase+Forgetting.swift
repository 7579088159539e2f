import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// Thumbnails that are removed so that nobody sees them again.
    static let forgetting: [ConformanceCase] = [
        ConformanceCase("a label goes with the thumbnails that only it names") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [["u"], ["u", "v"], ["v"], []])
            let (own, both, others, without) = (made[0], made[1], made[2], made[3])
            try await fixture.enqueueAgain(without) { $0.labels = ["u"] }
            let receipt = try await fixture.store.forget(ForgetSelector(.label("u")), atOnce: false)
            #expect(receipt == ForgetReceipt(thumbnails: 1, bytes: 1 + 8, bytesLeft: 1 + 8))
            try await fixture.expect(gone: [own])
            try await fixture.expect(shown: [both, others, without])
            #expect(try await fixture.labels(of: both) == ["v"])
            #expect(try await fixture.labels(of: without) == [])

            try await fixture.enqueueAgain(own) { $0.labels = ["u"] }
            try await fixture.runAll()
            #expect(try await fixture.store.data(of: .thumbnail(own.id)) == Data("again".utf8))
            #expect(try await fixture.labels(of: own) == ["u"])
            #expect(try await fixture.store.forget(ForgetSelector(.label("w")), atOnce: false).thumbnails == 0)
            let shared = ForgetSelector(.label("v"), evenShared: true)
            #expect(try await fixture.store.forget(shared, atOnce: false).thumbnails == 2)
            try await fixture.expect(gone: [both, others])
            try await fixture.expect(shown: [without])
            #expect(try await fixture.labels(of: own) == ["u"])
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("one, a source, a prefix, a batch and a job are forgotten") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [[], ["a"], [], [], [], [], []]) {
                $0.batch = $1 == 5 ? "b" : nil
            }
            let job = try #require(try await fixture.store.facts(of: [made[6].id])[0].job)
            let forgotten: [(ForgetSelector.Selection, Int)] = [
                (.uri(made[0].id), 1), (.source(made[1].source), 1), (.prefix("https://example.com/2"), 1),
                (.prefix("https://nobody.example/"), 0), (.batch("b"), 1), (.job(job), 1), (.job(99_999), 0),
            ]
            for (selection, count) in forgotten {
                #expect(try await fixture.store.forget(ForgetSelector(selection), atOnce: false).thumbnails == count)
            }
            try await fixture.expect(gone: [made[0], made[1], made[2], made[5], made[6]])
            try await fixture.expect(shown: [made[3], made[4]])
        },
        ConformanceCase("what would be forgotten is counted, and stays") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [["u"], ["u"], ["v"]])
            let waiting = try #require(try await fixture.enqueue { $0.labels = ["u"] }.first?.id)
            let selector = ForgetSelector(.label("u"))
            let would = try await fixture.store.forgettable(selector)
            #expect(would == ForgetReceipt(thumbnails: 2, bytes: 2 * (1 + 8), bytesLeft: 2 * (1 + 8)))
            let source = try await fixture.store.forgettable(made[0].source, .originalsAndThumbnails)
            #expect((source.originals, source.thumbnails) == (1, 1))
            try await fixture.expect(shown: made)
            _ = try await fixture.store.cachedSource(made[0].source)
            #expect(try await fixture.state(of: waiting) == .available)
            #expect(try await !fixture.store.wasForgotten(.thumbnail(made[0].id)))
            let rows = "SELECT (SELECT count(*) FROM forget) + (SELECT count(*) FROM forgotten)"
            #expect(try await fixture.sql(rows) == "0")
            #expect(try await fixture.faults() == [])
            #expect(try await fixture.store.forget(selector, atOnce: false) == would)
        },
        ConformanceCase("what was forgotten before is known, and what never was is not") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [["u"], [], [], [], ["w"]]) { $0.batch = $1 == 1 ? "b" : nil }
            let job = try #require(try await fixture.store.facts(of: [made[3].id])[0].job)
            let selections: [(ForgetSelector.Selection, ForgetSelector.Selection)] = [
                (.label("u"), .label("x")), (.batch("b"), .batch("x")), (.job(job), .job(99_999)),
                (.source(made[2].source), .source("https://nobody.example/")),
                (.uri(made[4].id), .uri(try Fixture.request("file:///none").thumbnailIDs()[0])),
                (.prefix("https://example.com/"), .prefix("https://nobody.example/")),
            ]
            try await fixture.enqueue { $0.source = "https://example.com/waits" }
            for (known, _) in selections {
                #expect(try await fixture.store.forget(ForgetSelector(known), atOnce: false).isKnown, "\(known)")
            }
            for (known, unknown) in selections {
                let again = try await fixture.store.forget(ForgetSelector(known), atOnce: false)
                #expect(again.thumbnails == 0 && again.isKnown, "\(known)")
                #expect(try await !fixture.store.forgettable(ForgetSelector(unknown)).isKnown, "\(unknown)")
                // Nor does it become known by that.
                for _ in 0..<2 {
                    let none = try await fixture.store.forget(ForgetSelector(unknown), atOnce: false)
                    #expect(none.thumbnails == 0 && !none.isKnown, "\(unknown)")
                }
            }
        },
        ConformanceCase("any program forgets by SQL, in its own transaction") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [["it's"], ["v"]])
            let insertion = "INSERT INTO forget(selector) VALUES"
            try await fixture.sql("BEGIN; \(insertion) ('{\"label\":\"it''s\"}'); ROLLBACK;")
            try await fixture.expect(shown: made)
            try await fixture.sql("BEGIN; \(insertion) ('{\"label\":\"it''s\"}'); COMMIT;")
            try await fixture.expect(gone: [made[0]])
            try await fixture.expect(shown: [made[1]])
            #expect(try await fixture.sql("SELECT thumbnails, bytes FROM forget WHERE thumbnails > 0") == "1|9")
            for selector in [
                "{}", "[]", "7", #"{"label":""}"#, #"{"label":7}"#, #"{"uri":null}"#, #"{"labels":"v"}"#,
                #"{"label":"v","batch":"b"}"#, #"{"job":"1"}"#, #"{"label":"v","evenShared":1}"#,
                #"{"evenShared":true}"#,
                #"{"uri":"x"}"#, #"{"uri":"cameo://thumb/0123456789ABCDEF0123456789ABCDEF"}"#, #"{"job":-1}"#,
                #"{"job":0}"#,
                #"{"uri":"http://a/thumb/0123456789abcdef0123456789abcdef"}"#, #"{"prefix":"h\u0000"}"#,
            ] {
                await #expect(throws: (any Error).self, "\(selector)") {
                    try await fixture.sql("\(insertion) ('\(selector)')")
                }
            }
            try await fixture.expect(shown: [made[1]])
        },
        ConformanceCase("jobs that were asked for before are cancelled, and none after") { fixture in
            try await fixture.register()
            try await fixture.enqueue(4) { $0.labels = ["u"] }
            try await fixture.enqueue { $0.labels = ["u", "v"] }
            let running = try #require(try await fixture.claim().first)
            func insert(_ source: String) async throws {
                let request = #"{"source":"\#(source)","renditions":[{"width":64}],"labels":["u"]}"#
                try await fixture.sql("INSERT INTO job(request) VALUES ('\(request)')")
            }
            try await insert("https://example.com/sql-before")
            try await fixture.upload(Data("GIF89a".utf8), #"{"renditions":[{"width":64}],"labels":["u"]}"#)
            try await fixture.sql(#"INSERT INTO forget(selector) VALUES ('{"label":"u"}')"#)
            await expectLeaseLost(running) { try await fixture.complete(running) }
            try await insert("https://example.com/sql-after")
            let again = Fixture.request(try running.parsedRequest().source) { $0.labels = ["u"] }
            let receipt = try await fixture.store.enqueue([again])[0]

            let left = try await fixture.claim(10)
            let expected: [Int64] = [5, 8, try #require(receipt.id)]
            #expect(Set(left.map(\.claim.jobID)).isSuperset(of: [5, 8]))
            for job in left { try await fixture.complete(job, seen: 1_000) }
            for id in [1, 2, 3, 4, 6, 7] as [Int64] { #expect(try await fixture.state(of: id) == .cancelled, "\(id)") }
            for id in expected { #expect(try await fixture.state(of: id) == .completed, "\(id)") }
            #expect(try await fixture.sql("SELECT count(*) FROM forget WHERE done_at IS NULL") == "0")
            #expect(try await fixture.sql("SELECT count(*) FROM upload WHERE data IS NOT NULL") == "0")
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a forget finds the jobs of a source, and none of one that ends like it") { fixture in
            try await fixture.register()
            let sources = ["a", "b"].map { "https://\($0).example.com/a-long-path/\u{1F600}e\u{301}/original.jpg" }
            for source in [sources[0], sources[1], sources[0], "file:///a"] {
                try await fixture.sql(
                    """
                    INSERT INTO job(request) VALUES ('{"source":"\(source)","uniqueKey":"\(UUID())","renditions":[{"width":64}]}')
                    """
                )
            }
            try await fixture.engine.acceptArrivals(in: fixture.store)
            // As tasks are that an earlier version or an import has entered.
            try await fixture.sql("UPDATE task SET source_tail = '' WHERE id > 2")
            for source in [sources[0], "file:///a"] {
                try await fixture.sql("INSERT INTO forget(selector) VALUES ('{\"source\":\"\(source)\"}')")
            }
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [2])
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a request before a forget revives no job that waits") { fixture in
            try await fixture.register()
            let request = Fixture.request("https://example.com/waits.png") { $0.labels = ["u"] }
            _ = try await fixture.store.enqueue([request])
            let text = request.json.canonicalText
            try await fixture.sql(
                "INSERT INTO job(request) VALUES ('\(text)'); INSERT INTO forget(selector) VALUES ('{\"source\":\"\(request.source)\"}')"
            )
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.claim(5).isEmpty)
            #expect(try await fixture.sql("SELECT count(*) FROM task") == "0")
        },
        ConformanceCase("bytes that something else names stay, and others leave") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [["u"], ["v"], ["u"]], bytes: ["same", "same", "own"])
            let large = Data(repeating: 7, count: 300_000)
            let upload = try await fixture.store.enqueue(
                Fixture.request("x") { $0.labels = ["u"] },
                data: large,
                cacheKey: nil,
                once: nil
            )
            let job = try #require(try await fixture.claim().first)
            try await fixture.settle(job, bytes: "of the upload", source: large)
            let name = CameoURI.blob(BlobDigest(of: large))
            #expect(try await fixture.store.data(of: name) == large)

            let receipt = try await fixture.store.forget(ForgetSelector(.label("u")), atOnce: false)
            #expect(receipt.thumbnails == 3)
            #expect(receipt.bytes == large.count + "own".count + "of the upload".count + "source 0".count + 8)
            await #expect(throws: StoreError.notFound(uri: name.text)) { try await fixture.store.data(of: name) }
            await #expect(throws: StoreError.self) { try await fixture.store.mediaType(of: BlobDigest(of: large)) }
            #expect(try await fixture.store.wasForgotten(name))
            #expect(try await fixture.store.data(of: .blob(BlobDigest(of: Data("same".utf8)))) == Data("same".utf8))
            try await fixture.expect(gone: [made[0], made[2]])
            try await fixture.expect(shown: [made[1]])
            #expect(upload.outcome == .accepted)

            fixture.clock.advance(seconds: 61)
            let rest = try await fixture.store.forget(ForgetSelector(.label("nothing")), atOnce: true)
            #expect(rest.bytesLeft == 0)
            let digests =
                ["own", "of the upload"].map { "'\(BlobDigest(of: Data($0.utf8)).hex)'" }
                + ["'\(BlobDigest(of: large).hex)'"]
            #expect(
                try await fixture.sql("SELECT count(*) FROM blob WHERE digest IN (\(digests.joined(separator: ",")))")
                    == "0"
            )
            #expect(try await fixture.store.wasForgotten(name))
            // The same bytes may come again.
            #expect(try await fixture.store.store(large, mediaType: nil) == BlobDigest(of: large))
            #expect(try await fixture.store.data(of: name) == large)
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("what was forgotten is not known for ever") { fixture in
            try await fixture.register()
            let made = try await fixture.make(labels: [["u"]])
            _ = try await fixture.store.forget(ForgetSelector(.label("u")), atOnce: false)
            // By the clock of the database, which is not the test's.
            try await fixture.sql("UPDATE forget SET at = \(Int64(fixture.clock.now.timeIntervalSince1970 * 1_000))")
            fixture.clock.advance(seconds: 29 * 86_400)
            try await fixture.prune(.forever)
            #expect(try await fixture.store.wasForgotten(.thumbnail(made[0].id)))
            fixture.clock.advance(seconds: 2 * 86_400)
            try await fixture.prune(.forever)
            #expect(try await !fixture.store.wasForgotten(.thumbnail(made[0].id)))
            #expect(
                try await fixture.sql("SELECT (SELECT count(*) FROM forget) + (SELECT count(*) FROM forgotten)") == "0"
            )
        },
    ]
}

extension Fixture {
    /// A thumbnail that was made.
    fileprivate typealias Made = (id: ThumbnailID, source: String, bytes: Data)

    /// Makes a thumbnail of a source of its own for each list of labels.
    fileprivate func make(
        labels: [[String]],
        bytes: [String] = [],
        _ change: (inout ThumbnailRequest, Int) -> Void = { _, _ in }
    ) async throws -> [Made] {
        var made: [Made] = []
        for (number, labels) in labels.enumerated() {
            let request = Fixture.request("https://example.com/\(number).png") {
                $0.labels = labels
                change(&$0, number)
            }
            _ = try await store.enqueue([request])
            let text = bytes.isEmpty ? "\(number)" : bytes[number]
            let job = try #require(try await claim().first)
            try await settle(job, bytes: text, source: Data("source \(number)".utf8))
            made.append((try request.thumbnailIDs()[0], request.source, Data(text.utf8)))
        }
        return made
    }

    /// Completes a job whose source was kept.
    fileprivate func settle(_ job: ClaimedJob, bytes: String, source: Data) async throws {
        let name = try job.parsedRequest().source
        if name.hasPrefix("https:") {
            try await store.keep(Fixture.original(source, uri: name, seen: 1), data: source, budget: nil)
        }
        let product = try Fixture.product(of: job, bytes: bytes, source: String(decoding: source, as: UTF8.self))
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
    }

    fileprivate func enqueueAgain(_ made: Made, _ change: (inout ThumbnailRequest) -> Void) async throws {
        _ = try await store.enqueue([
            Fixture.request(made.source) {
                $0.refresh = .never
                change(&$0)
            }
        ])
    }

    fileprivate func runAll() async throws {
        for job in try await claim(10) { try await settle(job, bytes: "again", source: Data("again".utf8)) }
    }

    fileprivate func labels(of made: Made) async throws -> [String] {
        try #require(try await store.facts(of: [made.id]).first).labels
    }

    fileprivate func expect(gone: [Made]) async throws {
        for made in gone {
            #expect(try await store.made(made.id) == nil)
            #expect(try await store.wasForgotten(.thumbnail(made.id)))
            await #expect(throws: StoreError.notFound(uri: CameoURI.source(made.source).text)) {
                try await store.cachedSource(made.source)
            }
        }
    }

    fileprivate func expect(shown: [Made]) async throws {
        for made in shown { #expect(try await store.data(of: .thumbnail(made.id)) == made.bytes) }
    }
}
