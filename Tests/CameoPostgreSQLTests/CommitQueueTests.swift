import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Writes that share transactions.
@Suite(.timeLimit(.minutes(10)))
struct CommitQueueTests {
    private struct Refusal: Error {}

    private func queues(_ fixture: StoreFixture) async throws -> String {
        try await fixture.sql("SELECT count(*) FROM queue")
    }

    @Test(arguments: ["own error", "error of a statement"])
    func aFailingOperationAffectsOnlyItself(kind: String) async throws {
        let fixture = try await StoreFixture()
        let store = fixture.store
        let results = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<40 {
                group.addTask {
                    do {
                        try await store.commit { db in
                            try db.execute("INSERT INTO queue(name) VALUES ($1)", ["q\(index)"])
                            guard index.isMultiple(of: 4) else { return }
                            if kind == "own error" { throw Refusal() }
                            try db.execute("INSERT INTO queue(name) VALUES ($1)", ["q\(index)"])
                        }
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 30)
        #expect(try await queues(fixture) == "30")
    }

    /// Only the commit itself finds the error, which cannot be told from those of its neighbours.
    @Test func aGroupWhoseCommitFailsIsRunAgainOneByOne() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN
                IF NEW.name = 'q7' THEN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END IF;
                RETURN NULL;
              END $$;
            CREATE CONSTRAINT TRIGGER late AFTER INSERT ON queue DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW EXECUTE FUNCTION refuse()
            """
        )
        let store = fixture.store
        let refused = await withTaskGroup(of: Int?.self) { group in
            for index in 0..<20 {
                group.addTask {
                    do throws(StoreError) {
                        _ = try await store.commit { db in
                            try db.execute("INSERT INTO queue(name) VALUES ($1)", ["q\(index)"])
                        }
                        return nil
                    } catch {
                        return error == .refused(reason: "no") ? index : -1
                    }
                }
            }
            return await group.reduce(into: [Int]()) { list, index in if let index { list.append(index) } }
        }
        #expect(refused == [7])
        #expect(try await queues(fixture) == "19")
    }

    @Test func aCancelledCallerDoesNotAffectOthers() async throws {
        let fixture = try await StoreFixture()
        let store = fixture.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    _ = try await store.commit { db in
                        try db.execute("INSERT INTO queue(name) VALUES ($1)", ["q\(index)"])
                    }
                }
                if index == 25 { group.cancelAll() }
            }
            try await group.waitForAll()
        }
        #expect(try await queues(fixture) == "50")
    }

    @Test(arguments: [false, true])
    func settlementsThatWaitTogetherShareATransaction(oneIsLost: Bool) async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(200)
        let jobs = try await fixture.store.claim(limit: 200, for: "w1")
        if oneIsLost { _ = try await fixture.store.cancel(jobs[50].claim.jobID) }
        let lost = try await withThrowingTaskGroup(of: Int64?.self) { group in
            for job in jobs {
                group.addTask {
                    do {
                        try await fixture.store.complete(job.claim)
                        return nil
                    } catch StoreError.leaseLost(let id) {
                        return id
                    }
                }
            }
            return try await group.reduce(into: [Int64]()) { list, id in if let id { list.append(id) } }
        }
        #expect(lost == (oneIsLost ? [jobs[50].claim.jobID] : []))
        let ended = oneIsLost ? 199 : 200
        #expect(try await fixture.sql("SELECT count(*) FROM attempt WHERE outcome = 'completed'") == "\(ended)")
        #expect(try await fixture.wrongCounts() == "")
        // Beside a settlement that fails, each has a savepoint, whose rows have a number of their own.
        guard !oneIsLost else { return }
        let transactions = try await fixture.sql("SELECT count(DISTINCT xmin::text) FROM outcome WHERE state = 4")
        #expect(try #require(Int(transactions)) < 200)
    }

    @Test(arguments: [false, true])
    func aClaimThatIsLostWhileItsSettlementWaitsIsLost(ends: Bool) async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2)
        let claims = try await fixture.store.claim(limit: 2, for: "w1").map(\.claim)
        let other = try fixture.anotherStore()
        let (untilTaken, taken) = AsyncStream.makeStream(of: Void.self)
        async let thief: Void = other.commit { db in
            try db.execute("UPDATE task SET token = 'another' WHERE id = $1", [claims[0].jobID])
            taken.finish()
            try db.waitUntilAnotherWaits()
        }
        for await _ in untilTaken {}
        async let kept: Void = fixture.store.complete(claims[1])
        await #expect(throws: StoreError.leaseLost(jobID: claims[0].jobID)) {
            if ends { try await fixture.store.complete(claims[0]) } else { try await fixture.store.release(claims[0]) }
        }
        _ = try await (thief, kept)
        #expect(try await fixture.sql("SELECT id || token FROM task") == "\(claims[0].jobID)another")
        #expect(try await fixture.sql("SELECT id FROM outcome") == "\(claims[1].jobID)")
        #expect(try await fixture.sql("SELECT job_id FROM attempt") == "\(claims[1].jobID)")
        #expect(try await fixture.wrongCounts() == "")
    }

    /// The server ends one of both, which runs again.
    @Test func transactionsThatLockEachOtherOutBothSucceed() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql("INSERT INTO queue(name) VALUES ('a'), ('b')")
        let stores = [try fixture.anotherStore(), try fixture.anotherStore()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (store, names) in zip(stores, [["a", "b"], ["b", "a"]]) {
                group.addTask {
                    try await store.commit { db in
                        let add = "UPDATE queue SET opens_at = opens_at + 1 WHERE name = $1"
                        try db.execute(add, [names[0]])
                        try db.execute("SELECT pg_sleep(0.3)")
                        try db.execute(add, [names[1]])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.sql("SELECT string_agg(opens_at::text, ' ') FROM queue") == "2 2")
    }

    /// Two processes store equal pictures, and then replace them, in opposite orders; a trigger is slow enough for each to be
    /// in the middle of it.
    @Test func equalPicturesLetNoTransactionsWaitInACircle() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await fixture.sql(
            """
            CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN PERFORM pg_sleep(0.002); RETURN NULL; END $$;
            CREATE TRIGGER slow AFTER INSERT OR UPDATE ON blob FOR EACH ROW EXECUTE FUNCTION dawdle();
            CREATE TRIGGER slow AFTER INSERT OR UPDATE ON orphan FOR EACH ROW EXECUTE FUNCTION dawdle();
            """
        )
        let (stores, pairs) = ([fixture.store, try fixture.anotherStore()], 24)
        for round in 1...2 {
            _ = try await fixture.store.enqueue(
                (0..<(2 * pairs)).map { number in StoreFixture.request(number) { $0.refresh = .always } }
            )
            let jobs = try await fixture.store.claim(limit: 2 * pairs, for: "w1")
            #expect(jobs.count == 2 * pairs)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, job) in jobs.sorted(by: { $0.claim.jobID < $1.claim.jobID }).enumerated() {
                    let number = index % 2 == 0 ? index / 2 : pairs - 1 - index / 2
                    group.addTask {
                        let bytes = Data("\(round) \(number)".utf8)
                        let provenance = try StoreFixture.provenance(seen: Int64(round), version: "test-\(round)")
                        let product = JobProduct.rendered(try StoreFixture.rendered(job, bytes: bytes), provenance)
                        try await stores[index % 2].settle(job.claim, as: .complete(product), timings: AttemptTimings())
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await fixture.sql("SELECT * FROM counter WHERE family = 'collisions'") == "")
        #expect(
            try await fixture.sql("SELECT count(*), count(DISTINCT blob) FROM thumbnail") == "\(2 * pairs)|\(pairs)"
        )
        #expect(try await fixture.sql("SELECT count(*) FROM orphan") == "\(pairs)")
        #expect(try await fixture.wrongCounts() == "")
    }

    /// Two processes enqueue the same requests in random orders, many at a time: first new ones, each process each once, then
    /// those for which jobs wait. Who makes a name waits for others who make the same, so all names are there.
    @Test func equalRequestsLetNoTransactionsWaitInACircle() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql(
            """
            CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN PERFORM pg_sleep(0.002); RETURN NULL; END $$;
            CREATE TRIGGER slow AFTER INSERT OR UPDATE ON task FOR EACH ROW EXECUTE FUNCTION dawdle();
            CREATE TRIGGER slow AFTER UPDATE ON lane FOR EACH ROW EXECUTE FUNCTION dawdle();
            """
        )
        let (stores, count) = ([fixture.store, try fixture.anotherStore()], 100)
        @Sendable func request(_ number: Int) -> ThumbnailRequest {
            StoreFixture.request(number) { request in
                request.batch = "b\(number % 7)"
                request.concurrencyKey = "k\(number % 5)"
                request.queue = "q\(number % 3)"
            }
        }
        _ = try await stores[0].enqueue((1_000..<1_105).map { request($0) })
        for round in 0..<2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in (0..<count).shuffled() + (0..<count).shuffled().map({ $0 + count }) {
                    let store = stores[number / count]
                    group.addTask {
                        // Some clients repeat their requests.
                        let once = try number % 3 == 0 ? IdempotencyKey("\(number)-\(round)", of: "client") : nil
                        _ = try await store.enqueue(request(number % count), data: nil, cacheKey: nil, once: once)
                    }
                }
                for store in stores where round == 1 {
                    for _ in 0..<5 {
                        group.addTask { _ = try await store.enqueue((0..<count).shuffled().map { request($0) }) }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "\(count + 105)")
        #expect(try await fixture.sql("SELECT * FROM counter WHERE family = 'collisions'") == "")
        #expect(try await fixture.wrongCounts() == "")
    }

    /// Every role that may connect may take any advisory lock.
    @Test func namesLimitsAndCountsNeedNoLockThatStrangersMayTake() async throws {
        let fixture = try await StoreFixture()
        let request = try CheckedRequest(StoreFixture.request())
        let receipt = FirstReceipt(try IdempotencyKey("k", of: "client"), of: request, data: nil)
        for _ in 1...2 {
            let locks = try await fixture.store.commit { db -> Int64? in
                try db.lock(receipt)
                _ = try db.enter([request], MadeThumbnails(answered: [], damaged: []))
                _ = try (db.queue("q"), db.key("k", limit: 2), db.batch("b"))
                try db.lock(.limitedClaim)
                try db.foldCounts()
                return try db.value(
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
                )
            }
            #expect(locks == 0)
        }
        let other = try fixture.anotherStore()
        try await fixture.store.commit { db in
            try db.lock(.limitedClaim)
            #expect(try db.tryLock(.fold))
            let done = DispatchSemaphore(value: 0)
            Task {
                let taken = try? await other.commit { db in try db.tryLock(.fold) }
                #expect(taken == false)
                done.signal()
            }
            #expect(done.wait(timeout: .now() + 9) == .success)
        }
    }

    /// Here it has those of earlier versions.
    @Test func aStrangersLocksHoldUpNoRequest() async throws {
        let fixture = try await StoreFixture()
        let server = try await PostgreSQLServer.shared()
        let role = "\(fixture.schema)_stranger"
        _ = try await server.sql("CREATE ROLE \(role) LOGIN", schema: "public")
        let stranger = try Connection(DatabaseURL(server.url(ofSchema: fixture.schema, user: role)))
        let (request, key) = (StoreFixture.request(), try IdempotencyKey("k", of: "client"))
        let (family, unique) = (0x4361_6D65, try CheckedRequest(request).key.text)
        try stranger.run(
            """
            SELECT pg_advisory_lock(\(family + 1), hashtext('\(fixture.schema)\(unique)')),
              pg_advisory_lock(\(family + 2), hashtext('\(fixture.schema) \(key.text)'))
            """
        )
        let receipt = try await fixture.store.enqueue(request, data: nil, cacheKey: nil, once: key)
        #expect(receipt.outcome == .accepted && stranger.isUsable)
    }

    /// As an import does, which may take long.
    @Test func upkeepPassesOverNamesThatAreHeldForLong() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql("INSERT INTO queue(name) VALUES ('unused')")
        let (turn, other) = (try await fixture.store.freeTurn(), try fixture.anotherStore())
        let (untilHeld, held) = AsyncStream.makeStream(of: Void.self)
        let done = DispatchSemaphore(value: 0)
        async let holder: Void = other.commit { db in
            _ = try db.queue("used")
            held.finish()
            _ = done.wait(timeout: .now() + 9)
        }
        for await _ in untilHeld {}
        #expect(try await fixture.store.prune(Retention(), in: turn).queues == 0)
        done.signal()
        try await holder
        #expect(try await fixture.store.prune(Retention(), in: turn).queues >= 1)
    }
}
