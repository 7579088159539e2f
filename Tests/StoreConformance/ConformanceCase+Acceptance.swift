import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// The acceptance of rows inserted by SQL.
    static let acceptance: [ConformanceCase] = [
        ConformanceCase("a row that says it was made later takes no later place") { fixture in
            let now = fixture.clock.now.milliseconds
            for (name, time) in [("a", now + 86_400_000), ("b", now)] {
                try await fixture.sql("INSERT INTO job(request, created_at) VALUES ('\(request(name))', \(time))")
            }
            try await fixture.register("w1")
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [1, 2])
            #expect(try await fixture.store.job(1).availableAt <= fixture.clock.now)
        },
        ConformanceCase("numbers in metadata come back as they were sent, or are refused by name") { fixture in
            let rows = ["9223372036854775807", "1e20", "0.1", "9223372036854775808"].enumerated().map { index, number in
                request("\(index)", #","metadata":{"id":\#(number)}"#)
            }
            try await fixture.insert(rows)
            try await fixture.register("w1")
            let jobs = try await fixture.claim(9)
            #expect(jobs.map(\.claim.jobID) == [1, 2, 3])
            // 1e20 is written without an exponent where requests are stored in canonical form.
            let numbers = try jobs.map { try $0.parsedRequest().metadata["id"] }
            #expect(numbers == [.integer(.max), .number(1e20), .number(0.1)])
            let reason = "metadata.id: the whole number 9223372036854775808 does not fit in 64 signed bits"
            #expect(try await fixture.refusal(4)?.contains(reason) == true)
            let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
            for job in jobs { try await fixture.store.fail(job.claim, with: failure) }
            #expect(try await fixture.store.retry(2).before == .discarded)
        },
        ConformanceCase("two duplicates of almost a mebibyte each are one job") { fixture in
            // Regression: their combined requests exceeded the limit of one, so no claim, enqueue or rescue
            // succeeded.
            let pad = String(repeating: "x", count: 1_048_400)
            let duplicates = ["one", "two"].map { long(pad, #","batch":"\#($0)""#) }
            try #require(duplicates.allSatisfy { (1_048_000...1_048_576).contains($0.utf8.count) })
            try await fixture.insert(duplicates + [request("b")])
            try await fixture.register("w1")
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [1, 3])
            #expect(try await fixture.store.job(2).supersededBy == 1)
            #expect(try await fixture.refusal(1) == nil)
            #expect(try await fixture.refusal(2) == nil)
            #expect(try await fixture.store.batch("two").count(.running) == 1)
            fixture.clock.advance(seconds: fixture.store.lease.seconds + 1)
            #expect(try await fixture.store.rescueExpired(except: "me").rescued == 2)
            #expect(try await fixture.enqueue()[0].outcome == .accepted)
            try await fixture.store.deregister("w1")
            try await fixture.expectSound()
        },
        ConformanceCase("rows are accepted in the order of their ids") { fixture in
            try await fixture.insert([request("a"), request("b"), request("a"), request("b")])
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.arrivals() == "0")
            #expect(try await [fixture.store.job(3), fixture.store.job(4)].map(\.supersededBy) == [1, 2])
            let changes = try await fixture.store.changes(since: 0, limit: 9).map { "\($0.job) \($0.state)" }
            #expect(changes == ["1 available", "2 available", "3 cancelled", "4 cancelled"])
        },
        ConformanceCase("a prune that is to end leaves the backlog of rows inserted by SQL") { fixture in
            try await fixture.insert((0..<1_600).map { request("\($0)") })
            let store = fixture.store
            let turn = try #require(try await store.maintenanceTurn())
            let pruning = Task {
                // Only then does it begin.
                while !Task.isCancelled { await Task.yield() }
                return try await store.prune(Retention(), in: turn, pause: .zero) { _ in }
            }
            pruning.cancel()
            await #expect(throws: CancellationError.self) { try await pruning.value }
            #expect(try await fixture.arrivals() != "0")
        },
        ConformanceCase("a claim continues after scheduled rows") { fixture in
            // It continues after a page whose rows are all scheduled for later.
            let later = #","runAt":"2090-01-01T00:00:00Z""#
            try await fixture.insert((0..<1_100).map { request("\($0)", later) } + [request("now")])
            #expect(try await fixture.claim().map(\.claim.jobID) == [1_101])
        },
        ConformanceCase("many processes accept each row once") { fixture in
            try await fixture.insert((0..<2_000).map { request("\($0)") })
            let stores = try await fixture.others(4)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask {
                        while try await fixture.arrivals() != "0" {
                            try await fixture.engine.acceptArrivals(in: store)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let changes = try await fixture.store.changes(since: 0, limit: 9_999)
            #expect((changes.count, Set(changes.map(\.job)).count) == (2_000, 2_000))
            #expect(try await fixture.sql("SELECT count(*) FROM task") == "2000")
            #expect(try await fixture.store.status().count(.available) == 2_000)
            try await fixture.expectSound()
        },
        ConformanceCase("unaccepted rows are visible everywhere") { fixture in
            try await fixture.insert([
                request("a", #","queue":"web","batch":"b","priority":7,"maxAttempts":2"#),
                request("b", #","runAt":"2090-01-31T12:00:00.250+02:00","batch":"b","labels":["\u00e4b","c"]"#),
                request("c", #","concurrencyKey":"k","labels":"c""#),
            ])
            let views = "SELECT id, state, queue, priority, max_attempts, source FROM job_status ORDER BY id"
            #expect(
                try await fixture.sql(views).split(separator: "\n") == [
                    "1|available|web|7|2|file:///a.jpg", "2|scheduled|default|0|5|file:///b.jpg",
                    "3|available|default|0|5|file:///c.jpg",
                ]
            )
            let batch = "SELECT batch, id, state FROM batch_status ORDER BY id"
            let inBatch: [Substring] = ["b|1|available", "b|2|scheduled"]
            #expect(try await fixture.sql(batch).split(separator: "\n") == inBatch)
            try await expectRowsInReports(fixture)
            #expect(try await fixture.arrivals() == "3", "none of these calls accepts rows")
            // The same holds once it is accepted, but for what the strict parser refuses.
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.store.status().count(.available) == 1)
            #expect(try await fixture.sql(views).hasPrefix("1|available|web|7|2|file:///a.jpg"))
            #expect(try await fixture.sql(batch).split(separator: "\n") == inBatch)
        },
        ConformanceCase("a refused row does not stop the next") { fixture in
            try await fixture.register()
            try await fixture.insert([
                request("a", #","priority":1000"#), request("b"), request("c", #","runAt":"yesterday""#),
                request("d", #","queue":7"#), request("e"),
            ])
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [2, 5])
            for (id, word) in [(Int64(1), "priority"), (3, "runAt"), (4, "queue")] {
                #expect(try await fixture.refusal(id)?.contains(word) == true)
            }
            #expect(try await fixture.store.status().count(.discarded) == 3)
            try await fixture.expectSound()
        },
        ConformanceCase("a refused row stays in its queue and batch") { fixture in
            try await fixture.insert([
                request("a", #","queue":"web","batch":"b","priority":1000"#), request("b", #","batch":"b""#),
            ])
            #expect(try await fixture.store.batch("b").total == 2)
            try await fixture.engine.acceptArrivals(in: fixture.store)
            let batch = try await fixture.store.batch("b")
            #expect((batch.total, batch.count(.discarded)) == (2, 1))
            #expect(batch.failures.map(\.code) == [.requestInvalid])
            #expect(try await fixture.store.job(1).queue == "web")
            let rows = try await fixture.sql("SELECT id, state FROM batch_status ORDER BY id")
            #expect(rows.split(separator: "\n") == ["1|discarded", "2|available"])
        },
        ConformanceCase("a retry does not accept what is still invalid") { fixture in
            try await fixture.register()
            try await fixture.insert([request("a", #","priority":1000"#)])
            #expect(try await fixture.store.retry(1).before == .discarded)
            #expect(try await fixture.refusal(1) != nil)
            #expect(try await fixture.claim(9).isEmpty)
            try await fixture.expectSound()
        },
    ]

    static let acceptanceVaried: [ConformanceCase] =
        ["cancel", "snooze", "retry", "bulk"].map(anOperatorCanChangeUnacceptedJobs)
        + ["upload:7", "upload:1", "UPLOAD:1", "upload:", "upload:x"].map(anUploadSourceWithoutAnUploadIsFinal)

    private static func request(_ name: String, _ fields: String = "") -> String {
        #"{"source":"file:///\#(name).jpg","renditions":[{"width":64}]\#(fields)}"#
    }

    private static func long(_ data: String, _ fields: String = "") -> String {
        #"{"source":"data:,\#(data)","renditions":[{"width":64}]\#(fields)}"#
    }

    /// Expects the rows of "unaccepted rows are visible everywhere" in the answers of a store.
    private static func expectRowsInReports(_ fixture: Fixture) async throws {
        let store = fixture.store
        let status = try await store.status()
        #expect((status.count(.available), status.count(.scheduled)) == (2, 1))
        #expect(status.queues.map { "\($0.name) \($0.jobs[.available] ?? 0)" } == ["default 1", "web 1"])
        #expect(try await store.unfinishedJobs(queues: nil) == 2)
        #expect(try await store.jobs(JobFilter()).map(\.id) == [3, 2, 1])
        for (change, ids) in [
            ({ $0.queue = "web" }, [1]), ({ $0.states = [.scheduled] }, [2]), ({ $0.batch = "b" }, [2, 1]),
            ({ $0.sourcePrefix = "file:///c" }, [3]), ({ $0.states = [.running] }, []),
            ({ $0.label = "äb" }, [2]), ({ $0.label = "c" }, [2]), ({ $0.label = "b" }, []),
            ({ $0.concurrencyKey = "k" }, [3]), ({ $0.concurrencyKey = "default" }, []),
        ] as [((inout JobFilter) -> Void, [Int64])] {
            var filter = JobFilter()
            change(&filter)
            #expect(try await store.jobs(filter).map(\.id) == ids)
        }
        let report = try await store.batch("b")
        #expect((report.total, report.count(.available), report.count(.scheduled)) == (2, 1, 1))
        #expect(try await store.states(of: [1, 2]) == [1: .available, 2: .scheduled])
    }

    private static func anOperatorCanChangeUnacceptedJobs(_ way: String) -> ConformanceCase {
        ConformanceCase("an operator can change unaccepted jobs: \(way)") { fixture in
            let store = fixture.store
            try await fixture.insert([request("a"), request("b")])
            switch way {
            case "cancel": #expect(try await store.cancel(2) == .available)
            case "snooze": #expect(try await store.snooze(2, until: fixture.clock.now + 60) == .available)
            case "retry": #expect(try await store.retry(2).before == .available)
            default:
                var filter = JobFilter()
                (filter.states, filter.sourcePrefix) = ([.available], "file:///b")
                #expect(try await store.change(filter, by: .cancel).changed == 1)
            }
            let ids = try await fixture.claim(9).map(\.claim.jobID).sorted()
            #expect(ids == (way == "retry" ? [1, 2] : [1]))
        }
    }

    private static func anUploadSourceWithoutAnUploadIsFinal(_ source: String) -> ConformanceCase {
        ConformanceCase("an upload source without an upload is final: \(source)") { fixture in
            // Regression: the job was retried until its attempts were used up.
            try await fixture.upload(Data([1]), #"{"renditions":[{"width":64}]}"#)
            try await fixture.insert([#"{"source":"\#(source)","renditions":[{"width":64}]}"#])
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [1])
            let reason = "only an upload may have an upload: source"
            #expect(try await fixture.refusal(2)?.contains(reason) == true)
            _ = try await fixture.store.retry(2)
            #expect(try await fixture.claim(9).isEmpty)
            #expect(try await fixture.refusal(2) != nil)
        }
    }
}

extension Fixture {
    /// Inserts all requests in one transaction, like a producer without Cameo's code.
    fileprivate func insert(_ requests: [String]) async throws {
        let rows = requests.map { "('\($0)')" }.joined(separator: ",\n")
        try await sql("INSERT INTO job(request) VALUES \(rows)")
    }

    /// The number of rows that are not accepted yet.
    fileprivate func arrivals() async throws -> String {
        try await sql("SELECT count(*) FROM job WHERE id NOT IN (SELECT id FROM task UNION SELECT id FROM outcome)")
    }

    /// Expects all rows to be accepted and counted.
    fileprivate func expectSound() async throws {
        #expect(try await arrivals() == "0")
        #expect(try await faults() == [])
    }

    /// Why a request was refused; nil if it was not.
    fileprivate func refusal(_ id: Int64) async throws -> String? {
        let job = try await store.job(id)
        guard job.state == .discarded, job.failure?.code == .requestInvalid, job.attempt == 0 else { return nil }
        return job.failure?.message
    }
}
