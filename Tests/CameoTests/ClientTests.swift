import Cameo
import Foundation
import StoreConformance
import TestSupport
import Testing

/// A job by the library, from its request to its end.
@Suite(.timeLimit(.minutes(10)))
struct ClientTests {
    private let bench: Workbench
    private let client: Client

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    private func request(_ name: String = "a") -> ThumbnailRequest {
        ThumbnailRequest(source: "file:///\(name).jpg", renditions: [Rendition(width: 64, height: 64, fit: .cover)])
    }

    @Test func aJobIsToldFromItsBeginningToItsEnd() async throws {
        let job = try await client.enqueue(request())
        let worker = try await bench.register()
        var states: [JobState] = []
        for try await status in client.events(of: job) {
            states.append(status.state)
            switch status.state {
            case .available: try await bench.work(worker) { Workbench.picture($0) }
            case .completed: #expect(status.thumbnails[0].bytes == 4_000)
            default: break
            }
        }
        #expect(states.first == .available && states.last == .completed)
        let thumbnail = try await client.thumbnails(for: job)[0]
        #expect(thumbnail.name == "64x64-cover" && thumbnail.uri == job.thumbnails[0].uri)
        #expect(try await client.data(for: thumbnail.uri) == Workbench.picture(0))
        #expect(try await client.data(for: try #require(thumbnail.blob)) == Workbench.picture(0))
    }

    @Test func waitReturnsWhenTheJobHasEnded() async throws {
        let job = try await client.enqueue(request())
        let id = try #require(job.id)
        await #expect(throws: CameoError.timedOut(jobID: id)) {
            try await client.wait(for: id, timeout: .milliseconds(50))
        }
        async let status = client.wait(for: job, timeout: .seconds(300))
        let worker = try await bench.register()
        try await bench.work(worker) { Workbench.picture($0) }
        let state = try await status?.state
        #expect(state == .completed)
    }

    @Test func everyChangeOfEveryJobIsToldOnceAndGoesOnAfterACursor() async throws {
        let first = try #require(try await client.enqueue(request()).id)
        let feed = try await client.events()
        let second = try #require(try await client.enqueue(request("b")).id)
        try await bench.work(try await bench.register()) { Workbench.picture($0) }
        var told: [String] = []
        var cursor: Int64 = 0
        for try await change in feed {
            told.append("\(change.job) \(change.state)")
            cursor = change.cursor
            if told.count == 5 { break }
        }
        #expect(told.first == "\(second) available", "the first job was enqueued before the call")
        let others = [first, second].flatMap { ["\($0) running", "\($0) completed"] }
        #expect(told.dropFirst().sorted() == others.sorted())

        let waiting = Task { [client] in
            for try await change in try await client.events(since: cursor) { return change.job }
            return 0
        }
        let third = try #require(try await client.enqueue(request("c")).id)
        #expect(try await waiting.value == third)
        let all = try await client.events(since: 0)
        #expect(try await all.first { _ in true }?.job == first)

        let cancelled = Task { [client] in
            for try await _ in try await client.events() {}
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    /// A job that is to wait again while a newer one waits for the same thumbnails yields to it.
    @Test func whoWaitsForAJobWaitsForTheOneThatTookItsPlace() async throws {
        let worker = try await bench.register()
        let first = try #require(try await client.enqueue(request()).id)
        let begun = try await bench.begin(worker)
        let second = try #require(try await client.enqueue(request()).id)
        async let waited = client.wait(for: first, timeout: .seconds(300))
        var told: [String] = []
        for try await status in client.events(of: first) {
            told.append("\(status.id) \(status.state)")
            if status.id == first {
                try await bench.putOff(begun)
            } else {
                try await bench.work(worker) { Workbench.picture($0) }
            }
        }
        #expect(told == ["\(first) running", "\(second) available", "\(second) completed"])
        let status = try await waited
        #expect((status.id, status.state) == (second, .completed))
        let old = try await client.status(of: first)
        #expect((old.state, old.failure?.code, old.supersededBy) == (.cancelled, .jobSuperseded, second))
        #expect(try await client.wait(for: first).id == second)
    }

    /// A row that SQL inserted is compared with those that wait when the next Cameo process looks at it. The job that takes
    /// its place is where it was itself.
    @Test func whoFollowsARowOfSQLIsToldOfTheJobThatTookItsPlace() async throws {
        let first = try #require(try await client.enqueue(request()).id)
        try await bench.sql("INSERT INTO job(request) VALUES (json('\(request().json.canonicalText)'));")
        var told: [String] = []
        for try await status in client.events(of: first + 1) {
            told.append("\(status.id) \(status.state)")
            if status.id == first { try await client.cancel(first) } else { _ = try await client.enqueue(request("b")) }
        }
        #expect(told == ["\(first + 1) available", "\(first) available", "\(first) cancelled"])
    }

    /// Readings are gathered for a second before they are noted.
    @Test func aProgramThatIsAboutToEndHasNotedWhatItRead() async throws {
        let job = try await client.enqueue(request())
        try await bench.work(try await bench.register()) { Workbench.picture($0) }
        try await bench.sql("UPDATE thumbnail SET updated_at = 1;")
        _ = try await client.data(for: job.thumbnails[0].uri)
        await client.finish()
        #expect(try await bench.sql("SELECT read_at > 1 FROM thumbnail;") == "1")
        #expect(try await client.enqueue(request("b")).state == .available, "it can be used on")
    }

    @Test func aWaitThatIsCancelledLeavesTheJob() async throws {
        let id = try #require(try await client.enqueue(request()).id)
        let wait = Task { try await client.wait(for: id) }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        #expect(try await client.status(of: id).state == .available)
    }

    @Test func aCancelledJobEnds() async throws {
        let id = try #require(try await client.enqueue(request()).id)
        #expect(try await client.cancel(id) == .available)
        let status = try await client.wait(for: id, timeout: .seconds(300))
        #expect(status.state == .cancelled && status.finalizedAt != nil)
        #expect(try await client.cancel(id) == .cancelled)
        await #expect(throws: CameoError.noSuchJob(77)) { try await client.cancel(77) }
        await #expect(throws: CameoError.noSuchJob(77)) { try await client.wait(for: 77) }
    }

    @Test func whatIsFreshNeedsNoJob() async throws {
        let request = ThumbnailRequest(source: "initials:AB", renditions: [Rendition(width: 64, height: 64)])
        #expect(try await client.enqueue(request).outcome == .accepted)
        #expect(try await client.enqueue(request).outcome == .joined)
        let worker = try await bench.register()
        try await bench.work(worker) { Workbench.picture($0) }
        let job = try await client.enqueue(request)
        #expect((job.outcome, job.id, job.state) == (.fresh, nil, .completed))
        #expect(job.thumbnails[0].blob != nil)
        for try await _ in client.events(of: job) { Issue.record("there is no job") }
        #expect(try await client.wait(for: job) == nil)
        #expect(try await client.thumbnails(for: job) == job.thumbnails)
    }

    @Test func bytesHandedOverAreTheJobsSource() async throws {
        let picture = Workbench.picture(1)
        let job = try await client.enqueue(data: picture, renditions: [Rendition(width: 64)])
        #expect(try await client.data(for: try #require(CameoURI(job.source))) == picture)
        let again = try await client.enqueue(data: picture, renditions: [Rendition(name: "other-name", width: 64)])
        #expect(again.thumbnails[0].uri == job.thumbnails[0].uri)
        let stored = ThumbnailRequest(source: try await client.store(picture), renditions: [Rendition(width: 64)])
        #expect(try await client.enqueue(stored).thumbnails[0].uri == job.thumbnails[0].uri)
    }

    @Test func requestsOfOneCallAreAllAcceptedOrNone() async throws {
        let bad = ThumbnailRequest(source: "file:///a.jpg", renditions: [Rendition(width: 0)])
        try await expectInvalid("renditions[0].width") { _ = try await client.enqueue([request(), bad]) }
        await #expect(throws: CameoError.noSuchJob(1)) { try await client.status(of: 1) }
        var scheduled = request("b")
        scheduled.runAt = Date(timeIntervalSinceNow: 3_600)
        let jobs = try await client.enqueue([request(), scheduled])
        #expect(jobs.map(\.state) == [.available, .scheduled])
    }

    @Test func anOptionIsTheSameInSwiftAndInJSON() async throws {
        var rendition = Rendition(width: 320, height: 180, fit: .cover, gravity: .attention)
        rendition.look.cornerRadius = .pixels(12)
        var typed = ThumbnailRequest(source: "file:///a.jpg", renditions: [rendition])
        (typed.timeout, typed.metadata) = (9.5, ["user": 7, "tags": ["cat", 0.5, true, nil]])
        let json = #"{"width":320,"height":180,"fit":"cover","gravity":"attention","cornerRadius":12}"#
        let rest = #""timeout":9.5,"metadata":{"user":7,"tags":["cat",0.5,true,null]}"#
        let parsed = try ThumbnailRequest(parsing: #"{"source":"file:///a.jpg","renditions":[\#(json)],\#(rest)}"#.utf8)
        #expect(parsed == typed)
        #expect(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: #"{"source":"a","nonsense":1}"#.utf8) }
        #expect(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: "{".utf8) }
        let job = try await client.status(of: try #require(try await client.enqueue(typed).id))
        #expect(job.metadata == typed.metadata)
    }

    @Test func aFailureTellsWhetherAnotherAttemptMaySucceed() async throws {
        let worker = try await bench.register()
        let id = try #require(try await client.enqueue(request()).id)
        try await bench.putOff(try await bench.begin(worker))
        let failure = try #require(try await client.status(of: id).failure)
        #expect((failure.code, failure.stage, failure.isRetryable) == (.sourceTimeout, .fetch, true))
    }

    @Test(arguments: ["text", "text/", "a b/c", "text/plain\r\nX: y", "text/plain; a=\u{7F}"])
    func aMediaTypeThatCouldNotStandInAHeaderIsRefused(type: String) async throws {
        await #expect(throws: CameoError.self) { try await client.store(Data("a".utf8), mediaType: type) }
    }

    @Test func aStoreIsOpenedForReading() async throws {
        let uri = try await client.store(Data("bytes".utf8))
        let reader = try Client(reading: bench.path)
        #expect(try await reader.data(for: uri) == Data("bytes".utf8))
        await #expect(throws: CameoError.self) { try await reader.store(Data("more".utf8)) }
        #expect(throws: CameoError.self) { try Client(reading: bench.folder.path("none")) }
    }

    /// What a Swift program hands to its player beside a storyboard.
    @Test func theTrackOfAStoryboardIsComputed() async throws {
        var rendition = Rendition(width: 32)
        rendition.storyboard = Rendition.Storyboard(columns: 2, rows: 1)
        let request = ThumbnailRequest(source: "https://videos.example/a.mp4", renditions: [rendition])
        let uri = try await client.enqueue(request).thumbnails[0].uri
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) {
            try await client.webVTT(for: uri, sheet: "a.webp")
        }
        try await bench.work(try await bench.register()) { _ in Workbench.picture(1) }
        #expect(try await client.webVTT(for: uri, sheet: "a.webp") == nil, "its source is a picture")
        let facts = #"{"duration":4,"codec":"vp9","rotation":0,"hasAudio":true}"#
        try await bench.sql("UPDATE thumbnail SET source_video = '\(facts)';")
        let track = try #require(try await client.webVTT(for: uri, sheet: "a.webp"))
        #expect(track.contains("00:00:00.000 --> 00:00:02.000\na.webp#xywh=0,0,"), "\(track)")
    }
}
