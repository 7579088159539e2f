import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What each role may do, and what the server refuses it.
@Suite(.timeLimit(.minutes(10)))
struct RoleTests {
    private static let worker = WorkerDescription(id: "w1", host: "host", pid: 1, version: "test", concurrency: 4)
    private static let row = """
        INSERT INTO job(request) VALUES ('{"source":"file:///row","renditions":[{"width":9}]}')
        """

    // MARK: - Producers

    @Test(arguments: [false, true])
    func whatAProducerEnqueuesIsAcceptedAndDone(mayRead: Bool) async throws {
        let roles = try await RoleServer(producersRead: mayRead)
        let (producer, worker) = (try roles.open(.producer), try roles.open(.worker))
        let receipts = try await producer.enqueue([
            StoreFixture.request("file:///1") { $0.batch = "b" }, StoreFixture.request("file:///2"),
        ])
        #expect(receipts.map(\.outcome) == [.accepted, .accepted])
        #expect(receipts.map(\.source) == ["file:///1", "file:///2"])
        #expect(try await roles.sql("\(Self.row) RETURNING id", as: .producer) == "3")
        let upload = try await producer.enqueue(
            StoreFixture.request(),
            data: Data("picture".utf8),
            cacheKey: nil,
            once: nil
        )
        #expect(upload.source == CameoURI.blob(BlobDigest(of: Data("picture".utf8))).text)
        try await producer.add(BatchSeal(batch: "b", hook: "site"))
        await producer.finish()

        try await worker.register(Self.worker)
        try await worker.acceptAll()
        let jobs = try await worker.claim(limit: 9, for: "w1")
        #expect(Set(jobs.map(\.claim.jobID)) == Set((receipts + [upload]).compactMap(\.id) + [3]))
        for job in jobs {
            if job.claim.jobID == upload.id { _ = try await worker.absorbUpload(job) }
            try await worker.complete(job)
        }
        for receipt in receipts + [upload] {
            let job = try await roles.owner.job(receipt.jobID)
            #expect(job.state == .completed)
            #expect(job.thumbnails.map(\.uri) == receipt.thumbnails.map(\.uri), "the receipt named its thumbnails")
        }
        #expect(try await roles.owner.batch("b").jobs[.completed] == 1)
        try await worker.endSealedBatches()
        #expect(try await worker.claimDeliveries(["site": 1], for: "w1").count == 1)
        if mayRead {
            #expect(try await producer.job(receipts[0].jobID).state == .completed)
            let last = try await roles.owner.lastChange()
            #expect(try await producer.lastChange() == last)
        }
    }

    @Test func aProducersIdempotencyKeyHolds() async throws {
        let roles = try await RoleServer(producersRead: false)
        let producer = try roles.open(.producer)
        let key = try IdempotencyKey("k", of: "client")
        let first = try await producer.enqueue(StoreFixture.request(), data: nil, cacheKey: nil, once: key)
        let again = try await producer.enqueue(StoreFixture.request(), data: nil, cacheKey: nil, once: key)
        #expect(first == again)
        #expect(try await roles.server.sql("SELECT count(*) FROM job", schema: roles.schema) == "1")
        await #expect(throws: InvalidRequest.self) {
            try await producer.enqueue(StoreFixture.request("file:///other"), data: nil, cacheKey: nil, once: key)
        }
    }

    @Test func aProducerThatMayNotReadSeesOnlyIDs() async throws {
        let roles = try await RoleServer(producersRead: false)
        _ = try await roles.owner.enqueue([StoreFixture.request()])
        #expect(try await roles.sql("SELECT count(id) FROM job", as: .producer) == "1")
        try await roles.refuses(
            [
                "SELECT * FROM job", "SELECT request FROM job", "SELECT * FROM job_status",
                "SELECT * FROM batch_status",
                "SELECT * FROM task", "SELECT * FROM blob", "SELECT data FROM upload", "SELECT * FROM first_receipt",
                "\(Self.row) RETURNING request",
            ],
            to: .producer
        )
        let producer = try roles.open(.producer)
        await roles.denies { try await producer.status() }
        await roles.denies { try await producer.job(1) }
    }

    @Test func aProducerChangesNothing() async throws {
        let roles = try await RoleServer(producersRead: true)
        _ = try await roles.owner.enqueue([StoreFixture.request()])
        #expect(try await roles.sql("SELECT state FROM job_status", as: .producer) == "available")
        try await roles.refuses(
            [
                "DELETE FROM job", "UPDATE job SET created_at = 1",
                "INSERT INTO job(request, created_at) VALUES ('{}', 1)",
                "INSERT INTO task SELECT * FROM task", "DELETE FROM task", "UPDATE task SET state = 1",
                "INSERT INTO arrival VALUES (1)", "UPDATE queue SET paused = true", "DELETE FROM upload",
                "INSERT INTO upload(data, request, job_id) VALUES ('x', '{}', 1)", "SELECT * FROM first_receipt",
                "SELECT make_partition('outcome', 1)", "UPDATE schema_version SET version = 9",
                "CREATE TABLE mine(a int)",
            ],
            to: .producer
        )
        let producer = try roles.open(.producer)
        await roles.denies { try await producer.cancel(1) }
        await roles.denies { try await producer.pause("default", unknown: .refused) }
        await roles.denies { try await producer.register(Self.worker) }
        await roles.denies { try await producer.claim(limit: 1, for: "w1") }
        await roles.denies { try await producer.store(Data([1]), mediaType: nil) }
        await roles.denies {
            try await producer.enqueue(StoreFixture.request(), data: Data([1]), cacheKey: CacheKey("k"), once: nil)
        }
    }

    // MARK: - Readers

    @Test func aReaderReadsAllAndWritesNothing() async throws {
        let roles = try await RoleServer()
        try await roles.owner.register(Self.worker)
        let receipt = try await roles.owner.enqueue([StoreFixture.request { $0.batch = "b" }])[0]
        for job in try await roles.owner.claim(limit: 1, for: "w1") { try await roles.owner.complete(job) }
        let reader = try roles.open(.reader, .readOnly)
        #expect(try await reader.status().workers.count == 1)
        let job = try await reader.job(receipt.jobID)
        #expect(job.state == .completed)
        #expect(try await reader.jobs(JobFilter()).count == 1)
        #expect(try await reader.places(of: [receipt.jobID]).count == 1)
        #expect(try await reader.batch("b").jobs[.completed] == 1)
        #expect(try await reader.batches(before: nil, limit: 9).batches.count == 1)
        #expect(try await reader.concurrencyLimits().isEmpty)
        #expect(try await reader.hooks(failures: 1).isEmpty)
        #expect(try await reader.version() > 0)
        _ = try await (reader.metrics(), reader.queues(), reader.changes(since: 0, limit: 9), reader.lastChange())
        let uri = try #require(job.thumbnails.first).uri
        #expect(try await reader.data(of: uri) == Data("thumbnail".utf8))
        let original = StoreFixture.bytes("a")
        try await roles.owner.keep(StoreFixture.original(original), data: original, budget: nil)
        #expect(try await reader.data(of: .source(StoreFixture.uri)) == original)
        _ = try await reader.check()
        reader.noteReading(of: uri)
        await reader.finish()
        #expect(try await roles.sql("SELECT state FROM job_status", as: .reader) == "completed")

        try await roles.refuses(
            [
                Self.row, "DELETE FROM job", "UPDATE task SET state = 1", "UPDATE queue SET paused = true",
                "SELECT data FROM upload", "SELECT * FROM first_receipt", "SELECT * FROM partial_piece",
                "SELECT request FROM job", "SELECT job FROM job", "SELECT request FROM upload",
                "SELECT source FROM thumbnail", "SELECT rendition FROM thumbnail", "SELECT thumbnail FROM thumbnail",
                "SELECT known_receipt('a', 'b')", "SELECT nextval('source_seen')", "SELECT uri FROM source",
                "SELECT final_url FROM source", "SELECT hops FROM source", "SELECT fields FROM source",
                "SELECT source FROM source", "SELECT uri FROM source_failure", "SELECT failure FROM source_failure",
            ],
            to: .reader
        )
        let writing = try roles.open(.reader)
        await roles.denies { try await writing.enqueue([StoreFixture.request()]) }
        await roles.denies { try await writing.retry(receipt.jobID) }
    }

    @Test(arguments: [RoleServer.Role.reader, .producer])
    func noReaderSeesTheSecretsOfRequests(role: RoleServer.Role) async throws {
        let roles = try await RoleServer(producersRead: true)
        var request = StoreFixture.request("https://ada:secret@example.com/1.jpg") {
            $0.headers = ["Authorization": "Bearer secret"]
            $0.metadata = ["source": "https://mine@example.com"]
        }
        request.renditions[0].look.overlay = Rendition.Overlay(source: "https://bob:secret@example.com/2.png")
        let receipt = try await roles.owner.enqueue([request])[0]
        let deep = String(repeating: "[", count: 900) + #""secret""# + String(repeating: "]", count: 900)
        for odd in [
            #""headers":{"Cookie":"secret"},"deep":\#(deep)"#, #""headers":"secret""#, #""headers":[{"a":"secret"}]"#,
            #""a":{"headers":{"a":"secret"}}"#,
        ] {
            let row = #"{"source":"https://a:secret@h","renditions":[{}],\#(odd)}"#
            _ = try await roles.sql("INSERT INTO job(request) VALUES ('\(row)')", as: .producer)
        }
        let shown = try await roles.sql(
            """
            SELECT request FROM job_request; SELECT source FROM job_status; SELECT source FROM batch_status
            """,
            as: role
        )
        #expect(!shown.contains("secret"), "\(shown)")
        for part in [
            "Authorization", "https://…@example.com/1.jpg", "https://…@example.com/2.png", "mine@", "Cookie",
        ] {
            #expect(shown.contains(part), "\(part): \(shown)")
        }
        #expect(try await !"\(roles.open(role, .readOnly).job(receipt.jobID).request)".contains("secret"))
        #expect(try await "\(roles.owner.job(receipt.jobID).request)".contains("Bearer secret"))
        let whole = try await roles.sql("SELECT request FROM job_request WHERE id = 1", as: .worker)
        #expect(whole.contains("Bearer secret"))
    }

    /// As where everyone may create in `public`, which was the default before PostgreSQL 15.
    @Test func aReadersOwnOperatorsAndFunctionsSeeNoSecrets() async throws {
        let roles = try await RoleServer()
        let request = StoreFixture.request("https://ada:secret@example.com/1.jpg") {
            $0.headers = ["Authorization": "Bearer secret"]
            $0.batch = "b"
        }
        _ = try await roles.owner.enqueue([request])
        let (mine, reader) = ("\(roles.schema)_mine", "\(roles.schema)_reader")
        _ = try await roles.server.sql(
            "CREATE SCHEMA \(mine); GRANT ALL ON SCHEMA \(mine) TO \(reader)",
            schema: roles.schema
        )
        let shown = try await roles.sql(
            """
            CREATE FUNCTION \(mine).whole(json, text) RETURNS text LANGUAGE sql AS 'SELECT $1::text';
            CREATE OPERATOR \(mine).->> (FUNCTION = \(mine).whole, LEFTARG = json, RIGHTARG = text);
            CREATE FUNCTION \(mine).strpos(text, text) RETURNS integer LANGUAGE sql AS 'SELECT 0';
            SET search_path TO \(mine), \(roles.schema), pg_catalog;
            SELECT source, failure_message FROM job_status; SELECT source FROM batch_status; SELECT request FROM job_request;
            """,
            as: .reader
        )
        #expect(!shown.contains("secret") && shown.contains("https://…@example.com/1.jpg"), "\(shown)")
    }

    /// What no column can hold of a request that no worker has accepted yet.
    @Test func noProducersNumberOrTimeHidesTheOthers() async throws {
        let roles = try await RoleServer()
        for field in [#""priority":1e99"#, #""maxAttempts":-1e99"#, #""runAt":"infinity""#, #""runAt":"-infinity""#] {
            let row = #"{"source":"file:///odd","renditions":[{}],\#(field)}"#
            _ = try await roles.sql("INSERT INTO job(request) VALUES ('\(row)')", as: .producer)
        }
        let seen = try await roles.sql("SELECT DISTINCT state, priority, max_attempts FROM job_status", as: .reader)
        #expect(seen == "available|0|5")
    }

    // MARK: - Attached tables

    /// A program's role has rights on its own table alone; a worker's and a reader's do the rest.
    @Test func rowsOfAnAttachedTableNeedNoRightsOnTheStore() async throws {
        let roles = try await RoleServer(producersRead: false)
        let (guest, program) = ("\(roles.schema)_guest", "\(roles.schema)_program")
        _ = try await roles.server.sql(
            """
            CREATE SCHEMA \(guest); CREATE ROLE \(program) LOGIN; GRANT USAGE ON SCHEMA \(guest) TO \(program);
            CREATE TABLE \(guest).users(
              id uuid PRIMARY KEY DEFAULT gen_random_uuid(), tenant integer DEFAULT 1, picture text);
            GRANT ALL ON \(guest).users TO \(program);
            ALTER TABLE \(guest).users ENABLE ROW LEVEL SECURITY;
            CREATE POLICY own ON \(guest).users USING (tenant = 1);
            """,
            schema: roles.schema
        )
        let attachment = try await roles.owner.attach(
            WantedAttachment(
                table: "\(guest).users",
                column: "picture",
                key: "id",
                kind: .url,
                renditions: [Rendition(name: "small", width: 64)]
            )
        )
        func run(_ statements: String) async throws -> String {
            try await roles.server.sql(statements, schema: guest, user: program)
        }
        _ = try await run("INSERT INTO users(picture) VALUES ('initials:A'), ('initials:B'), ('nothing')")
        _ = try await run("UPDATE users SET picture = 'initials:C' WHERE picture = 'initials:B'")
        await #expect(throws: (any Error).self) { _ = try await run("SELECT count(*) FROM \(roles.schema).attached") }
        await #expect(throws: (any Error).self) { _ = try await run("SELECT \(roles.schema).attach_emptied(1)") }
        let worker = try roles.open(.worker)
        try await worker.acceptAll()
        let shown = "SELECT state, small_uri LIKE 'cameo://thumb/%' FROM \(attachment.view) ORDER BY 1"
        #expect(try await roles.sql(shown, as: .reader) == "available|t\navailable|t\ninvalid|")
        try await roles.grant(producersRead: false)
        #expect(try await roles.sql("SELECT count(*) FROM \(attachment.view)", as: .reader) == "3")
        _ = try await run("DELETE FROM users")
        try await worker.acceptAll()
        try await worker.settleAttachments()
        #expect(try await roles.sql("SELECT count(*) FROM \(attachment.view)", as: .reader) == "0")
        #expect(try await roles.sql("SELECT count(*) FROM task", as: .reader) == "0")
    }

    // MARK: - Who may call what

    /// Functions run with the caller's rights unless they are marked by `*`, which run with the owner's; nobody calls those of
    /// triggers.
    @Test func everyFunctionHasItsCallers() async throws {
        let roles = try await RoleServer(producersRead: false)
        let list = """
            SELECT concat_ws(' ', proname || CASE WHEN prosecdef THEN '*' ELSE '' END, (
              SELECT string_agg(left(role, 1), '' ORDER BY place)
              FROM unnest(ARRAY['producer', 'reader', 'worker', 'operator']) WITH ORDINALITY AS one(role, place)
              WHERE has_function_privilege('\(roles.schema)_' || role, pg_proc.oid, 'EXECUTE')))
            FROM pg_proc WHERE pronamespace = '\(roles.schema)'::regnamespace AND prorettype <> 'trigger'::regtype
            ORDER BY proname COLLATE "C"
            """
        #expect(
            try await roles.server.sql(list, schema: roles.schema) == """
                as_uuid rwo
                attach_again* wo
                attach_emptied*
                attach_lost*
                attach_row* wo
                changes_since rwo
                claim_lane wo
                claim_shares wo
                complete_and_charge wo
                complete_jobs wo
                drop_partition* wo
                empty_partitions* wo
                encoded_path
                field prwo
                history_time
                is_restored* prwo
                is_unfinished
                keep_receipt* p
                known_receipt* p
                known_source* rwo
                make_partition* wo
                next_due wo
                now_ms prwo
                number_field prwo
                open_lanes wo
                promote_due wo
                shown_request prwo
                shown_source prwo
                take_jobs wo
                text_digest rwo
                time_field prwo
                time_text prwo
                """
        )
        let relations = """
            SELECT relname || ' ' || string_agg(left(role, 1) || rights, ' ' ORDER BY place)
            FROM pg_class CROSS JOIN unnest(ARRAY['producer', 'reader']) WITH ORDINALITY AS one(role, place),
              LATERAL (
                SELECT string_agg(lower(left(kind, 1)), '') AS rights
                FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS kind
                WHERE has_table_privilege('\(roles.schema)_' || role, pg_class.oid, kind)
                  OR kind IN ('INSERT', 'UPDATE', 'REFERENCES')
                    AND has_any_column_privilege('\(roles.schema)_' || role, pg_class.oid, kind)) AS held
            WHERE relnamespace = '\(roles.schema)'::regnamespace AND relkind IN ('r', 'p', 'v', 'S') AND rights IS NOT NULL
            GROUP BY relname ORDER BY relname COLLATE "C"
            """
        #expect(try await roles.server.sql(relations, schema: roles.schema) == "batch_seal pi\njob pi\nupload pi")
    }

    @Test func aReceiptIsKeptForTheRequestOfAJobOfTheSameTransactionAlone() async throws {
        let roles = try await RoleServer(producersRead: false)
        let request = StoreFixture.request("file:///theirs")
        let asked = try CheckedRequest(request).text
        let other = try CheckedRequest(StoreFixture.request("file:///mine")).text
        let theirs = try await roles.owner.enqueue([request])[0].jobID
        let key = try IdempotencyKey("k", of: "client")
        func keep(_ id: String, of text: String, bytes: String = "") -> String {
            "SELECT keep_receipt('\(key.text)', '\(text)', '\(bytes)', json_build_object('id', \(id)));"
        }
        let made = "INSERT INTO job(request) VALUES ('\(other)');"
        let uploaded = #"INSERT INTO upload(data, request) VALUES ('q', '{"renditions":[{"height":64,"width":64}]}');"#
        let mine = "(SELECT max(id) FROM job)"
        for forged in [
            keep("\(theirs)", of: asked), made + keep("\(theirs)", of: asked), made + keep(mine, of: asked),
            uploaded + keep(mine, of: asked, bytes: BlobDigest(of: Data("p".utf8)).hex),
            "\(made) COMMIT; BEGIN; \(keep(mine, of: other))", made + keep("NULL", of: other),
        ] {
            let error = await #expect(throws: PostgreSQLServer.Failure.self) {
                try await roles.sql("BEGIN; \(forged) COMMIT;", as: .producer)
            }
            #expect("\(String(describing: error))".contains("of the same transaction"), "\(forged)")
        }
        // One that was forged before is worthless.
        _ = try await roles.server.sql(
            """
            INSERT INTO first_receipt VALUES ('\(key.text)', '\(BlobDigest(of: Data((asked + "\n").utf8)).hex)', '{"id":7}',
              now_ms())
            """,
            schema: roles.schema
        )
        let boss = try roles.open(.operate)
        let receipt = try await boss.enqueue(request, data: nil, cacheKey: nil, once: key)
        #expect(receipt.id == theirs && receipt.source == request.source)
        #expect(try await boss.enqueue(request, data: nil, cacheKey: nil, once: key) == receipt)
    }

    /// One that is repeated while the first is being accepted waits for its row, which only Cameo's roles may lock.
    @Test(arguments: [RoleServer.Role.producer, .operate])
    func aRepeatedRequestWaitsForTheFirst(role: RoleServer.Role) async throws {
        let roles = try await RoleServer(producersRead: false)
        let (owner, other) = (roles.owner, try roles.open(role))
        let (request, key) = (StoreFixture.request(), try IdempotencyKey("k", of: "client"))
        let asked = try CheckedRequest(request)
        let receipt = FirstReceipt(key, of: asked, data: nil)
        let (untilHeld, held) = AsyncStream.makeStream(of: Void.self)
        async let first = owner.commit { db -> EnqueueReceipt in
            try db.lock(receipt)
            held.finish()
            try db.waitUntilAnotherWaits()
            let made = try #require(try db.enter([asked], MadeThumbnails(answered: [], damaged: [])).first)
            try receipt.note(made, db)
            return made
        }
        for await _ in untilHeld {}
        let again = try await other.enqueue(request, data: nil, cacheKey: nil, once: key)
        let accepted = try await first
        #expect(accepted == again)
        #expect(try await roles.server.sql("SELECT count(*) FROM job", schema: roles.schema) == "1")
    }

    @Test func aReceiptOfAnUploadIsKept() async throws {
        let roles = try await RoleServer(producersRead: false)
        let producer = try roles.open(.producer)
        let key = try IdempotencyKey("k", of: "client")
        let request = StoreFixture.request { $0.metadata = ["source": "mine", "b": 1.5] }
        let first = try await producer.enqueue(request, data: Data("p".utf8), cacheKey: nil, once: key)
        #expect(try await producer.enqueue(request, data: Data("p".utf8), cacheKey: nil, once: key) == first)
        #expect(try await roles.owner.enqueue(request, data: Data("p".utf8), cacheKey: nil, once: key) == first)
    }

    // MARK: - Workers and operators

    @Test func aWorkerDoesNotOperate() async throws {
        let roles = try await RoleServer()
        _ = try await roles.owner.enqueue([StoreFixture.request()])
        let worker = try roles.open(.worker)
        await roles.denies { try await worker.pause("default", unknown: .refused) }
        await roles.denies { try await worker.limit(queue: "default", to: 1, unknown: .refused) }
        await roles.denies { try await worker.limit(key: "k", to: 1) }
        await roles.denies { try await worker.setHook("h", ofQueue: "default", unknown: .refused) }
        await roles.denies { try await worker.enqueue([StoreFixture.request()]) }
        try await roles.refuses(
            [
                Self.row, "UPDATE job SET created_at = 1", "UPDATE schema_version SET version = 9",
                "UPDATE queue SET hook = 'h'", "DROP TABLE task", "TRUNCATE task", "CREATE TABLE mine(a int)",
                "ALTER TABLE outcome ADD mine int",
            ],
            to: .worker
        )
    }

    @Test func anOperatorDoesNotChangeTables() async throws {
        let roles = try await RoleServer()
        try await roles.refuses(
            [
                "DROP TABLE task", "TRUNCATE task", "CREATE TABLE mine(a int)", "UPDATE schema_version SET version = 9",
                "UPDATE job SET created_at = 1", "ALTER TABLE outcome ADD mine int",
            ],
            to: .operate
        )
    }

    /// Limits, rates, batches, hooks, caching, retries, rescue and retention, with a worker's rights.
    @Test func aWorkerDoesAllThatJobsNeed() async throws {
        let roles = try await RoleServer()
        let (producer, worker, boss) = (try roles.open(.producer), try roles.open(.worker), try roles.open(.operate))
        _ = try await boss.pause("limited", unknown: .created)
        _ = try await boss.resume("limited")
        try await boss.limit(queue: "limited", to: 3, unknown: .refused)
        try await boss.limit(queue: "limited", toRate: StartRate("100/s"), unknown: .refused)
        try await boss.limit(key: "k", toRate: StartRate("100/s"))
        var requests = (0..<4).map { number in
            StoreFixture.request("file:///\(number)") { request in
                (request.queue, request.batch, request.hook) = ("limited", "b\(number % 2)", "site")
            }
        }
        requests += ["k", "k", "new"].enumerated().map { index, key in
            StoreFixture.request("file:///key/\(index)") { ($0.concurrencyKey, $0.concurrencyLimit) = (key, 5 + index) }
        }
        _ = try await producer.enqueue(requests + requests)
        try await worker.register(Self.worker)
        try await worker.note(hooks: ["site"], of: "w1")
        try await worker.acceptAll()
        let limited = try await worker.claim(limit: 9, queues: ["limited"], for: "w1")
        #expect(limited.count == 3)
        let keyed = try await worker.claim(limit: 9, queues: ["default"], for: "w1")
        try #require(keyed.count == 3)
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        _ = try await worker.beginFetch(keyed[0].claim, of: try keyed[0].parsedRequest())
        try await worker.fail(keyed[0].claim, with: failure, retryAt: .distantFuture)
        try await worker.fail(keyed[1].claim, with: failure)
        try await worker.release(keyed[2].claim)
        for job in limited { try await worker.complete(job) }
        let deliveries = try await worker.claimDeliveries(["site": 9], for: "w1")
        #expect(deliveries.count == 3)
        for delivery in deliveries { try await worker.settle(delivery, as: .delivered) }

        let bytes = StoreFixture.bytes("a")
        let source = StoreFixture.original(bytes)
        _ = try await worker.keep(source, data: bytes, budget: 1_000)
        try await worker.touch(source)
        _ = try await worker.evictSources(over: 0, atMost: 9)
        let key = SourceKey(uri: StoreFixture.uri, scope: nil)
        try await worker.remember(failure, of: key, until: .distantFuture, seen: 9, peers: [])
        try await worker.extendLease(of: "w1")
        _ = try await worker.claim(limit: 1, for: "w1")
        _ = try await roles.server.sql("UPDATE worker SET lease_until = 0", schema: roles.schema)
        _ = try await worker.rescueExpired(except: nil)
        _ = try await worker.sweep(for: "w1")
        try await worker.deregister("w1")
        var retention = Retention()
        (retention.completed, retention.discarded, retention.cancelled) = (.zero, .zero, .zero)
        #expect(try await worker.prune(retention, in: try await worker.freeTurn()).jobs > 0)
        #expect(try await worker.repair(in: try await worker.freeTurn()).isEmpty)
        await worker.finish()
    }

    /// Weeks of history come and go by the owner's functions.
    @Test func aWorkerMaintainsTheHistorysPartitions() async throws {
        let clock = ConformanceClock()
        let roles = try await RoleServer(clock: clock.storeClock)
        let worker = try roles.open(.worker, clock: clock.storeClock)
        _ = try await worker.prune(Retention(), in: try await worker.freeTurn())
        let list = """
            SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = 'outcome'::regclass
            """
        let week = clock.now.milliseconds / 604_800_000
        let wanted = (0...4).map { "outcome_w\(week + Int64($0))" }
        #expect(
            try await roles.server.sql(list, schema: roles.schema)
                == (["outcome_other"] + wanted).joined(separator: " "),
            "those of the past are dropped"
        )
        for statement in ["SELECT make_partition('job', 1)", "SELECT drop_partition('task; DROP TABLE task', 1)"] {
            await #expect(throws: PostgreSQLServer.Failure.self) { try await roles.sql(statement, as: .worker) }
        }
    }

    // MARK: - The script

    @Test func theScriptMayBeRepeatedAndTakesRightsBack() async throws {
        let roles = try await RoleServer(producersRead: true)
        for takenBack in [false, nil] {
            try await roles.grant(producersRead: true)
            _ = try await roles.sql("SELECT * FROM job_request", as: .producer)
            try await roles.grant(producersRead: takenBack)
            try await roles.refuses(["SELECT * FROM job_request"], to: .producer)
        }
        for variables in [["schema=nowhere"], ["schema=\(roles.schema)", "producers_read=maybe"]] {
            let result = try await roles.server.psql(variables.flatMap { ["-v", $0] } + ["-f", RoleServer.script])
            #expect(result.exitStatus == 3, "\(result)")
        }
    }

    @Test func aRoleWithoutRightsIsDeniedByName() async throws {
        let roles = try await RoleServer()
        _ = try await roles.server.sql("CREATE ROLE \(roles.schema)_nobody LOGIN", schema: roles.schema)
        let url = try DatabaseURL(roles.server.url(ofSchema: roles.schema, user: "\(roles.schema)_nobody"))
        for access in [PostgreSQLStore.Access.readOnly, .readWrite, .creating] {
            await roles.denies { try PostgreSQLStore(url, access) }
        }
        let elsewhere = try DatabaseURL(
            roles.server.url(ofSchema: "\(roles.schema)_new", user: "\(roles.schema)_nobody")
        )
        await roles.denies { try PostgreSQLStore(elsewhere) }
    }
}
