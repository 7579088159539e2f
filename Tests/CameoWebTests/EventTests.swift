import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Changes of jobs' states as server-sent events.
@Suite(.timeLimit(.minutes(10)))
struct EventTests {
    private let bench: WebBench

    init() async throws {
        bench = try await WebBench()
    }

    private func request(_ queue: String = "default", batch: String? = nil) -> ThumbnailRequest {
        var request = ThumbnailRequest(
            source: "https://example.com/\(UUID().uuidString).png",
            renditions: [Rendition(width: 64)],
            queue: queue
        )
        request.batch = batch
        return request
    }

    @Test func everyChangeIsSentOnceInCommitOrder() async throws {
        let streams = [try await bench.events(), try await bench.events(), try await bench.events()]
        let worker = try await bench.register()
        for _ in 0..<3 {
            _ = try await bench.store.enqueue([request(batch: "b"), request()])
            try await bench.work(worker, with: WebBench.picture())
        }
        let expected = try await bench.store.changes(since: FeedCursor(0), limit: 100).changes
        try #require(expected.count == 18)
        for stream in streams {
            let changes = try await stream.changes(18)
            #expect(changes == expected)
        }
        #expect(expected[0].queue == "default" && expected[0].batches == ["b"] && expected[1].batches == nil)
    }

    @Test func anEventIsAJobChangeOnOneLine() async throws {
        let stream = try await bench.events()
        _ = try await bench.store.enqueue([request()])
        let block = try #require(await stream.next())
        #expect(block.name == "job" && block.id == "0-1")
        #expect(try block.change.job == 1)
        #expect(try block.change.state == .available)
    }

    @Test func aStreamResumesAfterItsCursor() async throws {
        for _ in 0..<5 { _ = try await bench.store.enqueue([request()]) }
        #expect(try await bench.events("?since=0").changes(5).map(\.cursor) == [1, 2, 3, 4, 5])
        #expect(try await bench.events("?since=3").changes(2).map(\.cursor) == [4, 5])
        // What a browser remembers is newer than the URL.
        for id in ["4", "0-4"] {
            let resumed = try await bench.events("?since=0", ["Last-Event-ID": id])
            #expect(try await resumed.changes(1).map(\.cursor) == [5])
        }
        // Neither: from now on.
        let stream = try await bench.events()
        let receipt = try await bench.store.enqueue([request()])[0]
        #expect(try await stream.changes(1).map(\.job) == [receipt.id])
    }

    /// After the changes of its jobs, and again to who comes back.
    @Test func theEndOfABatchIsSentToThoseWhoAsk() async throws {
        let stream = try await bench.events("?ends=true&batch=b")
        let worker = try await bench.register()
        _ = try await bench.store.enqueue([request(batch: "b"), request(batch: "c")])
        for name in ["b", "c"] { try await bench.store.add(BatchSeal(batch: name, hook: nil)) }
        try await bench.work(worker, with: WebBench.picture())
        try await bench.store.endSealedBatches()
        let end = try #require(try await bench.store.batch("b").end)
        #expect(end.jobs[.completed] == 1)
        var names: [String] = []
        while names.last != "batch", let block = await stream.next() {
            names.append(block.name ?? "")
            if block.name != "batch" { continue }
            #expect(try WireFormat.decode(BatchEnd.self, from: Data((block.data ?? "").utf8)) == end)
        }
        #expect(names.filter { $0 != "cursor" } == ["job", "job", "job", "batch"])
        for query in ["?since=5&ends=true", "?since=5&ends=true&batch=c"] {
            let resumed = try await bench.events(query)
            var found = 0
            while found < (query.hasSuffix("c") ? 1 : 2), let block = await resumed.next() {
                if block.name == "batch" { found += 1 }
            }
            #expect(found > 0)
        }
        #expect(try await bench.get("/events?ends=maybe").status == 400)
    }

    /// That of another store, or of one that was restored from a backup.
    @Test func aCursorThatIsNotOfThisStoreIsAGap() async throws {
        for _ in 0..<3 { _ = try await bench.store.enqueue([request()]) }
        for (id, gap) in [("4711", #"{"from":4,"to":4711}"#), ("0.77-2", #"{"from":1,"to":3}"#)] {
            let stream = try EventReader(port: bench.port, target: "/events", headers: ["Last-Event-ID": id])
            let told = try #require(await stream.next())
            #expect(told.name == "gap" && told.data == gap && told.id == "0-3")
            #expect(await stream.next()?.name == "cursor")
        }
        let epoch = "INSERT INTO counter VALUES ('feed', '1790000000000 0.5', 2)"
        try await bench.sql(epoch)
        let stream = try EventReader(port: bench.port, target: "/events", headers: ["Last-Event-ID": "0-3"])
        let told = try #require(await stream.next())
        #expect(told.name == "gap" && told.data == #"{"from":3,"to":3}"# && told.id == "0.5-2")
        #expect(await stream.next()?.name == "cursor")
        let again = try #require(await stream.next())
        #expect(try again.change.cursor == 3 && again.id == "0.5-3")
    }

    @Test func filtersSelectByStateQueueAndBatch() async throws {
        let worker = try await bench.register()
        _ = try await bench.store.enqueue([request("a", batch: "x"), request("b", batch: "y"), request("a")])
        try await bench.work(worker, with: WebBench.picture())
        for (query, count) in [("state=completed", 3), ("state=running,completed", 6), ("queue=a", 6), ("batch=y", 3)] {
            let changes = try await bench.events("?since=0&\(query)").changes(count)
            #expect(Set(changes.map(\.cursor)).count == count, "\(query)")
            for change in changes {
                switch query {
                case "queue=a": #expect(change.queue == "a")
                case "batch=y": #expect(change.batches == ["y"])
                default: #expect(query.contains(change.state.rawValue))
                }
            }
        }
    }

    /// More than the server keeps in memory, read while it is written.
    @Test func aReaderThatFallsBehindMissesNothing() async throws {
        let live = try await bench.events()
        for _ in 0..<10 {
            try await bench.sql(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                INSERT INTO change(job_id, state, at) SELECT i, 1, 0 FROM n
                """
            )
        }
        let late = try await bench.events("?since=0")
        for stream in [live, late] {
            #expect(try await stream.changes(10_000).map(\.cursor) == Array(1...10_000))
        }
    }

    @Test func aGapInTheHistoryIsNamed() async throws {
        for _ in 0..<6 { _ = try await bench.store.enqueue([request()]) }
        try await bench.sql("DELETE FROM change WHERE seq < 5")
        let stream = try EventReader(port: bench.port, target: "/events?since=2", headers: [:])
        let gap = try #require(await stream.next())
        #expect(await stream.next()?.id == gap.id)
        #expect(gap.name == "gap" && gap.data == #"{"from":3,"to":4}"# && gap.id == "0-4")
        #expect(try await stream.changes(2).map(\.cursor) == [5, 6])
    }

    @Test func aQuietStreamIsKeptAliveAndItsCursorMovesOn() async throws {
        let bench = try await WebBench { $0.keepAlive = .milliseconds(200) }
        let stream = try await bench.events("?state=discarded")
        _ = try await bench.store.enqueue([request()])
        var told = await stream.next()
        while let comment = told?.comment {
            #expect(comment == "keep-alive" && told?.id == nil)
            told = await stream.next()
        }
        #expect(told?.name == "cursor" && told?.data == #"{"cursor":1}"# && told?.id == "0-1")
        // Once is enough.
        #expect(await stream.next()?.comment == "keep-alive")
    }

    /// Clients that are in use hand over an empty message for a block without data, or half a one that was cut off.
    @Test func realClientsReadWholeMessagesAndMissNothing() async throws {
        let bench = try await WebBench { $0.keepAlive = .milliseconds(200) }
        _ = try await bench.store.enqueue((0..<5).map { _ in request("a") } + (0..<3).map { _ in request("b") })
        let clients = try await run(
            Repository.file(".build/object-servers/bin/python").path,
            [Repository.file("Tests/CameoWebTests/event_clients.py").path, "http://127.0.0.1:\(bench.port)"],
            environment: [
                "PYTHONPATH": Repository.file("Tests/Laboratory/browsing").path, "PYTHONDONTWRITEBYTECODE": "1",
            ]
        )
        #expect(clients.outputText == "ok\n", "\(clients.outputText)\(clients.errorText)")
    }

    @Test func aStreamThatEndsLeavesOthersAlone() async throws {
        var gone: EventReader? = try await bench.events()
        let stays = try await bench.events()
        withExtendedLifetime(gone) {}
        gone = nil
        for _ in 0..<20 { _ = try await bench.store.enqueue([request()]) }
        #expect(try await stays.changes(20).count == 20)
        // The last one has left, and another comes.
        #expect(try await bench.events("?since=0").changes(20).count == 20)
    }

    @Test func whatIsAskedForIsChecked() async throws {
        for query in ["since=-1", "since=x", "state=lost", "states=completed"] {
            #expect(try await bench.get("/events?\(query)").status == 400, "\(query)")
        }
        #expect(try await bench.get("/events", ["Last-Event-ID": "x"]).status == 400)
        #expect(try await bench.send("POST", "/events").status == 405)
        let head = try await bench.send("HEAD", "/events")
        #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
        let closed = try await WebBench(tokens: ["viewer": "read"])
        #expect(try await closed.get("/events").status == 401)
        _ = try await closed.events("", WebBench.bearer("viewer"))
    }
}
