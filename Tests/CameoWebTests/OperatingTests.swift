import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import Logging
import StoreConformance
import Synchronization
import TestSupport
import Testing

/// Batches, queues and changes to many jobs.
@Suite(.timeLimit(.minutes(10)))
struct OperatingTests {
    private static let alice = WebBench.bearer("alice")
    private static let viewer = WebBench.bearer("viewer")
    private let bench: WebBench
    private let log = RecordedLog()

    init() async throws {
        bench = try await WebBench(logger: log.logger, tokens: ["alice": "read,operate", "viewer": "read"])
    }

    private func enqueue(_ count: Int, queue: String = "default", batch: String? = nil) async throws {
        let requests = (0..<count).map { index in
            var request = ThumbnailRequest(
                source: "https://example.com/\(queue)/\(index)",
                renditions: [Rendition(width: 64)],
                queue: queue
            )
            request.batch = batch
            return request
        }
        _ = try await bench.store.enqueue(requests)
    }

    private func list(_ target: String, _ member: String) async throws -> [JSONValue] {
        let answer = try await bench.get(target, Self.viewer)
        guard answer.status == 200, case .array(let values) = try answer.json[member] else {
            throw RawAnswer.Malformed(text: answer.text)
        }
        return values
    }

    // MARK: - Batches

    @Test func batchesAreListedNewestFirst() async throws {
        for index in 0..<5 { try await enqueue(index + 1, queue: "q\(index)", batch: "batch \(index)") }
        #expect(try await list("/batches", "batches").map { $0["name"] }.first == "batch 4")
        let first = try await bench.get("/batches?limit=2", Self.viewer).json
        guard case .integer(let cursor) = first["next"] else { throw RawAnswer.Malformed(text: "\(first)") }
        let rest = try await bench.get("/batches?limit=100&cursor=\(cursor)", Self.viewer).json
        guard case .array(let batches) = rest["batches"] else { throw RawAnswer.Malformed(text: "\(rest)") }
        #expect(batches.map { $0["name"] } == ["batch 2", "batch 1", "batch 0"])
        #expect(batches.map { $0["total"] } == [3, 2, 1])
        #expect(rest["next"] == .null)
    }

    @Test func aBatchHasItsReport() async throws {
        try await enqueue(3, batch: "summer 2030/ä")
        try await bench.work(try await bench.register(), with: WebBench.picture())
        let answer = try await bench.get("/batches/summer%202030%2F%C3%A4", Self.viewer)
        #expect(answer.status == 200, "\(answer.text)")
        let report = try WireFormat.decode(BatchReport.self, from: answer.body)
        #expect(report.isFinished && report.count(.completed) == 3)
        #expect(try await bench.get("/batches/none", Self.viewer).status == 404)
        #expect(try await bench.get("/batches?limit=0", Self.viewer).status == 400)
        #expect(try await bench.get("/batches").status == 401)
        #expect(try await bench.send("POST", "/batches", Self.alice).status == 405)
    }

    // MARK: - Queues

    @Test func queuesArePausedResumedAndLimited() async throws {
        try await enqueue(1, queue: "bulk")
        #expect(try await list("/queues", "queues").map { $0["name"] } == ["bulk"])
        let paused = try await bench.send("POST", "/queues/bulk/pause", Self.alice)
        #expect(paused.status == 200)
        #expect(try paused.json["paused"] == true)
        let worker = try await bench.register()
        #expect(
            try await bench.store.claim(ClaimRequest(limit: 1, background: 1, kind: .usual, queues: nil, for: worker))
                .isEmpty
        )
        #expect(try await bench.send("POST", "/queues/bulk/resume", Self.alice).json["paused"] == false)
        for (body, concurrency, rate) in [
            (#"{"concurrency":4}"#, 4 as JSONValue, .null as JSONValue),
            (#"{"concurrency":4.0,"rate":"300/m"}"#, 4, "300/m"),
            (#"{"concurrency":null,"rate":"10/s"}"#, .null, "10/s"), (#"{"rate":null}"#, .null, .null),
        ] {
            let answer = try await bench.send("POST", "/queues/bulk/limit", Self.alice, body: Data(body.utf8))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.json["maxRunning"] == concurrency && answer.json["rate"] == rate, "\(body)")
        }
        for body in [
            "", "[]", "{}", #"{"concurrency":0}"#, #"{"concurrency":"4"}"#, #"{"rate":"fast"}"#, #"{"speed":1}"#,
        ] {
            let answer = try await bench.send("POST", "/queues/bulk/limit", Self.alice, body: Data(body.utf8))
            #expect(answer.status == 422, "\(body): \(answer.text)")
        }
    }

    @Test func aQueueGoesToTheBackgroundAndComesBack() async throws {
        try await enqueue(1, queue: "bulk")
        let moved = try await bench.send("POST", "/queues/bulk/background", Self.alice)
        #expect(moved.status == 200)
        #expect(try moved.json["background"] == true)
        #expect(try await bench.send("POST", "/queues/bulk/foreground", Self.alice).json["background"] == .null)
    }

    @Test func queueChangesNeedTheScopeAndTheQueue() async throws {
        try await enqueue(1, queue: "bulk")
        #expect(try await bench.send("POST", "/queues/bulk/fair", Self.alice).json["fair"] == true)
        #expect(try await bench.send("POST", "/queues/bulk/unfair", Self.alice).json["fair"] == .null)
        for verb in ["pause", "resume", "background", "foreground", "fair", "unfair"] {
            #expect(try await bench.send("POST", "/queues/bulk/\(verb)", Self.viewer).status == 403)
            #expect(try await bench.send("POST", "/queues/none/\(verb)", Self.alice).status == 404)
            #expect(try await bench.get("/queues/bulk/\(verb)", Self.alice).status == 405)
        }
        let limit = Data(#"{"concurrency":1}"#.utf8)
        #expect(try await bench.send("POST", "/queues/none/limit", Self.alice, body: limit).status == 404)
        #expect(try await bench.send("POST", "/queues/bulk/stop", Self.alice).status == 404)
        #expect(try await bench.get("/queues/bulk", Self.alice).status == 404)
        #expect(try await bench.get("/queues").status == 401)
    }

    // MARK: - Many jobs

    @Test func allThatMatchIsChanged() async throws {
        try await enqueue(700, queue: "a", batch: "x")
        try await enqueue(5, queue: "b")
        let cancelled = try await bench.send("POST", "/jobs/cancel?queue=a", Self.alice)
        #expect(cancelled.status == 200, "\(cancelled.text)")
        #expect(try cancelled.json == ["changed": 700])
        #expect(try await bench.store.status().count(.cancelled) == 700)
        let retried = try await bench.send("POST", "/jobs/retry?batch=x&state=cancelled", Self.alice)
        #expect(try retried.json == ["changed": 700])
        #expect(try await bench.send("POST", "/jobs/retry?queue=b", Self.alice).json == ["changed": 0])
        #expect(
            try await bench.send("POST", "/jobs/cancel?source=https://example.com/b/", Self.alice).json["changed"] == 5
        )
    }

    @Test func aChangeOfAllNeedsAFilterThatFits() async throws {
        try await enqueue(1)
        for query in ["", "?source=", "?state=completed", "?state=lost", "?limit=3", "?since=yesterday", "?id=1"] {
            let answer = try await bench.send("POST", "/jobs/cancel\(query)", Self.alice)
            #expect(answer.status == 400, "\(query): \(answer.text)")
        }
        #expect(try await bench.send("POST", "/jobs/cancel?queue=default", Self.viewer).status == 403)
        #expect(try await bench.get("/jobs/cancel?queue=default", Self.alice).status == 405)
        #expect(try await bench.store.status().count(.available) == 1)
    }

    @Test func jobsAreSelectedByTheirTime() async throws {
        // Ids and times with gaps, as retention leaves them.
        for minute in 0..<40 {
            try await bench.sql(
                """
                INSERT INTO job(request, created_at)
                VALUES ('{"source":"https://example.com/\(minute)","renditions":[{"width":9}]}', \(1_900_000_000_000 + minute * 60_000))
                """
            )
        }
        try await enqueue(1)
        try await bench.sql(".dbconfig enable_trigger off\nDELETE FROM job WHERE id % 7 < 3 AND id <= 40")
        func ids(since minute: Int) async throws -> [JSONValue] {
            let time = WireFormat.text(of: Date(timeIntervalSince1970: 1_900_000_000 + Double(minute) * 60))
            return try await list("/jobs?limit=200&source=https://example.com/&since=\(time)", "jobs").map { $0["id"] }
        }
        for minute in [0, 1, 2, 3, 17, 20, 39, 40] {
            let expected = (1...40).filter { $0 % 7 >= 3 && $0 > minute }.reversed().map { JSONValue.integer($0) }
            #expect(try await ids(since: minute).filter { $0 != 41 } == expected, "\(minute)")
        }
        #expect(try await bench.get("/jobs?since=2030-01-31T12:00:00+02:00", Self.viewer).status == 200)
        #expect(try await bench.get("/jobs?since=2030", Self.viewer).status == 400)
    }

    @Test func everyWriteIsLogged() async throws {
        try await enqueue(3, queue: "a")
        _ = try await bench.send("POST", "/jobs/1/cancel", Self.alice)
        _ = try await bench.send("POST", "/jobs/cancel?queue=a", Self.alice)
        _ = try await bench.send("POST", "/queues/a/pause", Self.alice)
        _ = try await bench.send("POST", "/queues/a/limit", Self.alice, body: Data(#"{"rate":"10/s"}"#.utf8))
        #expect(
            log.lines == [
                "job changed by=alice change=cancel job=1 state=available",
                "jobs changed by=alice change=cancel count=2 filter=queue=a",
                "queue changed by=alice change=pause queue=a",
                "queue changed by=alice change=limit queue=a rate=10/s",
            ]
        )
    }
}

/// The lines that a server has logged at `notice` and above.
final class RecordedLog: Sendable {
    private let recorded = Mutex<[(level: Logger.Level, line: String)]>([])

    var lines: [String] { recorded.withLock { $0.map(\.line) } }
    var levels: [Logger.Level] { recorded.withLock { $0.map(\.level) } }

    var logger: Logger { logger(from: .notice) }

    func logger(from level: Logger.Level) -> Logger { Logger(label: "test") { _ in Handler(log: self, level) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata = Logger.Metadata()
        var logLevel: Logger.Level

        init(log: RecordedLog, _ level: Logger.Level) { (self.log, logLevel) = (log, level) }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let line = (["\(event.message)"] + fields).joined(separator: " ")
            log.recorded.withLock { $0.append((event.level, line)) }
        }
    }
}
