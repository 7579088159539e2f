import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.timeLimit(.minutes(10)))
struct OpeningTests {
    @Test(arguments: [
        ("postgres://host/db", "postgres://host/db", "cameo"),
        ("postgresql://u:secret@host:5433/db?schema=shop", "postgresql://u@host:5433/db?schema=shop", "shop"),
        ("postgres:///db?host=/run&password=secret&schema=a_1", "postgres:///db?host=/run&schema=a_1", "a_1"),
        ("postgres://u:secret@a,b/db?sslmode=verify-full", "postgres://u@a,b/db?sslmode=verify-full", "cameo"),
    ])
    func aNameIsShownWithoutItsPassword(text: String, location: String, schema: String) throws {
        let url = try DatabaseURL(text)
        #expect((url.location, url.schema) == (location, schema))
        #expect(!url.connection.contains("schema="))
        #expect(url.connection.contains("secret") == text.contains("secret"))
    }

    @Test(arguments: [
        "mysql://host/db", "postgres:db", "postgres://h/d?schema=", "postgres://h/d?schema=A",
        "postgres://h/d?schema=pg_x",
        "postgres://h/d?schema=a;b", "postgres://h/d?schema=1a", "postgres://h/d?schema=a&schema=b", "postgres://h/\0",
    ])
    func aNameThatIsNotOneIsRefused(text: String) {
        #expect(throws: StoreError.self) { try DatabaseURL(text) }
    }

    /// Spellings of names with a password; `SEC` and `RET` are its parts.
    static let secrets = [
        "postgres://u:SECRET@127.0.0.1:9/db", "postgresql://u:SECRET@127.0.0.1:9/db",
        "POSTGRES://u:SECRET@127.0.0.1:9/db",
        "postgres://u:SEC?RET@127.0.0.1:9/db", "postgres://u:SEC?schema=RET@127.0.0.1:9/db",
        "postgres://u:SEC?password=RET@127.0.0.1:9/db", "postgres://u:SEC/RET@127.0.0.1:9/db",
        "postgres://u:SEC?RET/x@127.0.0.1:9/db", "postgres://u:SEC/RET?x@127.0.0.1:9/db",
        "postgres://u:SEC#RET@127.0.0.1:9/db", "postgres://u:SEC:RET@127.0.0.1:9/db",
        "postgres://u:SEC@RET@127.0.0.1:9/db", "postgres://u:SEC&RET@127.0.0.1:9/db",
        "postgres://u:SEC%RET@127.0.0.1:9/db", "postgres://u:SEC%40RET@127.0.0.1:9/db",
        "postgres://u:SEC%2FRET@127.0.0.1:9/db", "postgres://u:SEC%3FRET@127.0.0.1:9/db",
        "postgres://u:SEC%25RET@127.0.0.1:9/db", "postgres://u:SEC%00RET@127.0.0.1:9/db",
        "postgres://u:SECRET%@127.0.0.1:9/db", "postgres://u:SECRET@[::1]:9/db", "postgres://u:SECRET@/db?host=/SOCKET",
        "postgres://:SECRET@127.0.0.1:9/db", "postgres://u:SECRET@127.0.0.1:9,127.0.0.1:8/db",
        "postgres://u@127.0.0.1:9/db?password=SECRET", "postgres://u@127.0.0.1:9/db?pass%77ord=SECRET",
        "postgres://u@127.0.0.1:9/db?%70assword=SEC%52ET", "postgres://u@127.0.0.1:9/db?schema=a&password=SECRET",
        "postgres://u@127.0.0.1:9/db?password=1&password=SECRET", "postgres://u@127.0.0.1:9/db?sslpassword=SECRET",
        "postgres://u@127.0.0.1:9/db?sslpasswor%64=SECRET", "postgres://u@127.0.0.1:9/db?PASSWORD=SECRET",
        "postgres://u@127.0.0.1:9/db?passwort=SECRET", "postgres://u@127.0.0.1:9/db?SECRET",
        "postgres://u@127.0.0.1:9/db?password=SEC=RET", "postgres://u@127.0.0.1:SECRET/db",
        "postgres://u@127.0.0.1:9/db?host=u:SECRET@127.0.0.1", "postgres://u:SECRET",
        "postgres:/u:SECRET@127.0.0.1:9/db",
        "postgres:///?host=/SOCKET&dbname=user%3Du%20password%3DSECRET", "postgres://u:SECRET@127.0.0.1:9/db?schema=A",
        "postgres://u:SECRET@127.0.0.1:9/db?schema=a&schema=b", "postgres://u:e\u{301}SECRET?\u{301}@127.0.0.1:9/db",
    ]

    @Test(arguments: secrets)
    func noSpellingOfAPasswordIsShown(text: String) throws {
        var shown = ""
        do {
            let url = try DatabaseURL(text)
            shown = "\(url.location) "
            // The shown name is read as it is meant, and reopens the store without its password.
            #expect(try DatabaseURL(url.location).location == url.location)
            _ = try PostgreSQLStore(url, .readOnly)
        } catch {
            shown += "\(error)"
        }
        #expect(!shown.contains("SEC") && !shown.contains("RET"), "\(shown)")
    }

    @Test func aServerThatIsNotThereIsNamedWithoutThePassword() async throws {
        let url = try DatabaseURL("postgres://u:secret@127.0.0.1:9/db")
        let failure = #expect(throws: StoreError.self) { try PostgreSQLStore(url) }
        let text = failure?.description ?? ""
        #expect(text.contains("postgres://u@127.0.0.1:9/db") && !text.contains("secret"))
    }

    @Test func manyProcessesMayCreateTheSameStore() async throws {
        let url = try DatabaseURL(try await PostgreSQLServer.shared().newURL())
        let stores = try await withThrowingTaskGroup(of: PostgreSQLStore.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    // Opening blocks.
                    try await withCheckedThrowingContinuation { continuation in
                        DispatchQueue.global().async {
                            continuation.resume(with: Result { try PostgreSQLStore(url) })
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (index, store) in stores.enumerated() {
            #expect(try await store.enqueue([StoreFixture.request("file:///\(index)")]).count == 1)
        }
        #expect(try await stores[0].status().count(.available) == 8)
    }

    @Test func aStrangersLockEndsTheCreationByName() async throws {
        let url = try DatabaseURL(try await PostgreSQLServer.shared().newURL())
        let (stranger, own) = (try Connection(url), try Connection(url))
        let lock = AdvisoryLock.tables(of: url.schema)
        try stranger.run("SELECT pg_advisory_lock(\(lock))")
        let error = #expect(throws: DatabaseError.self) { try Schema.setUp(own, url, patience: 50) }
        #expect(error.map { StoreError($0, location: url.location) } == .busy(path: url.location))
        try stranger.run("SELECT pg_advisory_unlock(\(lock))")
        try Schema.setUp(own, url)
        #expect(try Schema.version(own, url) == Schema.currentVersion)
    }

    @Test func onlyAStoreIsOpened() async throws {
        let server = try await PostgreSQLServer.shared()
        let url = try DatabaseURL(server.newURL())
        #expect(throws: StoreError.missing(path: url.location)) { try PostgreSQLStore(url, .readOnly) }
        #expect(throws: StoreError.missing(path: url.location)) { try PostgreSQLStore(url, .readWrite) }
        _ = try await server.sql(
            "CREATE SCHEMA \(url.schema); CREATE TABLE \(url.schema).mine(a int)",
            schema: "public"
        )
        #expect(throws: StoreError.notAStore(path: url.location)) { try PostgreSQLStore(url) }
    }

    @Test(arguments: 1..<Schema.currentVersion)
    func tablesOfAnOlderVersionAreMigratedWithTheirJobs(version: Int) async throws {
        let server = try await PostgreSQLServer.shared()
        let url = try DatabaseURL(server.newURL())
        try Schema.setUp(try Connection(url), url, to: version)
        _ = try await server.sql(
            #"""
            INSERT INTO job(request) SELECT format('{"source":"file:///%s","renditions":[{"width":9}]}', n)::json
              FROM generate_series(1, 2) AS n;
            INSERT INTO blob(digest, size, data, created_at) VALUES (repeat('0', 64), 1, 'x', 0);
            INSERT INTO source_failure VALUES ('http://a', '', '{}', 0, 9, 1, '[]');
            """#,
            schema: url.schema
        )
        let store = try PostgreSQLStore(url)
        let lacking = WorkerDescription(
            id: "w1",
            host: "h",
            pid: 1,
            version: "test",
            concurrency: 1,
            queues: ["default", "other"],
            lacks: [.writing(.avif)]
        )
        try await store.register(lacking)
        let worker = try #require(try await store.status().workers.first)
        #expect(worker.lacks == ["write:avif"] && worker.queues == ["default", "other"])
        #expect(try await store.claim(limit: 9, for: "w1").count == 2)
    }

    @Test func tablesThatAnEarlierBuildMadeGoOn() async throws {
        let server = try await PostgreSQLServer.shared()
        _ = try await server.psql(["-c", "CREATE DATABASE earlier"])
        let dump = String(decoding: try await EarlierStore.postgresql.dump(), as: UTF8.self)
        let restored = try await server.psql(["-v", "ON_ERROR_STOP=1", "-d", "earlier"], input: dump)
        try #require(restored.exitStatus == 0, "\(restored.errorText)")
        _ = try await server.psql(["-d", "earlier", "-c", EarlierStore.postgresql.breakingTheFeed])
        let name = server.url(ofSchema: "cameo").replacing("/postgres?", with: "/earlier?")
        try await EarlierStore.expectItGoesOn(try PostgreSQLStore(DatabaseURL(name)))
    }

    @Test func tablesOfANewerVersionAreRefusedByName() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(2)
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.sql("UPDATE schema_version SET version = version + 1")
        let current = Schema.currentVersion
        let refusal = StoreError.newerSchema(path: fixture.store.location, found: current + 1, supported: current)
        #expect(throws: refusal) { try fixture.anotherStore() }
        await #expect(throws: refusal) { try await fixture.enqueue() }
        #expect(try await fixture.store.sweep(for: "w1").refusal == refusal)
        await #expect(throws: refusal) { try await fixture.store.claim(limit: 1, for: "w1") }
        // What was begun may end.
        try await fixture.store.complete(job)
        try await fixture.store.deregister("w1")
    }

    @Test func aStoreThatTookTheOthersPlaceIsNoticed() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        _ = try await fixture.store.sweep(for: "w1")
        #expect(fixture.store.isInPlace)
        try await fixture.sql("UPDATE schema_version SET identity = 'another'")
        _ = try await fixture.store.sweep(for: "w1")
        #expect(!fixture.store.isInPlace)
        await #expect(throws: StoreError.self) { try await fixture.enqueue() }
    }

    @Test func theServersClockCounts() async throws {
        let url = try DatabaseURL(try await PostgreSQLServer.shared().newURL())
        let clock = ServerClock(nil)
        clock.note(server: Date().milliseconds + 3_600_000, tookSince: .now)
        #expect(abs(clock.storeClock.now().timeIntervalSinceNow - 3_600) < 5, "a machine an hour behind is corrected")
        let store = try PostgreSQLStore(url)
        let receipt = try await store.enqueue([StoreFixture.request()])[0]
        #expect(abs(receipt.createdAt.timeIntervalSinceNow) < 60)
    }

    @Test func aRolesLimitOfConnectionsIsNamedWithWhatIsNeeded() async throws {
        let server = try await PostgreSQLServer.shared()
        let url = try DatabaseURL(server.newURL())
        _ = try PostgreSQLStore(url)
        let role = "\(url.schema)_few"
        _ = try await server.sql(
            """
            CREATE ROLE \(role) LOGIN CONNECTION LIMIT 1; GRANT USAGE ON SCHEMA \(url.schema) TO \(role);
            GRANT ALL ON ALL TABLES IN SCHEMA \(url.schema) TO \(role)
            """,
            schema: url.schema
        )
        let few = try DatabaseURL(server.url(ofSchema: url.schema, user: role))
        let store = try PostgreSQLStore(few)
        let another = ConnectionQueue(few, name: "another", patience: .zero)
        let error = await #expect(throws: DatabaseError.self) {
            try await another.perform { try another.withConnection { $0.isUsable } }
        }
        #expect(store.rights.accepts)
        let text = error?.message ?? ""
        #expect(text.contains("\"\(role)\"") && text.contains(Connection.need), "\(text)")
    }

    @Test(arguments: ["SQL_ASCII", "LATIN1"])
    func aDatabaseOfAnotherEncodingIsRefusedByName(encoding: String) async throws {
        let server = try await PostgreSQLServer.shared()
        let name = "in_\(encoding.lowercased())"
        _ = try await server.psql([
            "-c", "CREATE DATABASE \(name) TEMPLATE template0 ENCODING '\(encoding)' LC_COLLATE 'C' LC_CTYPE 'C'",
        ])
        let url = try DatabaseURL(server.newURL().replacing("/postgres?", with: "/\(name)?"))
        let error = #expect(throws: StoreError.self) { try PostgreSQLStore(url) }
        #expect(error?.description.contains("is \(encoding), not UTF8") == true, "\(error?.description ?? "")")
    }

    @Test func aRenamedSchemaIsRefusedByNameUntilItsFunctionsFollow() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        let server = try await PostgreSQLServer.shared()
        let (old, new) = (fixture.schema, "\(fixture.schema)_2")
        _ = try await server.sql("ALTER SCHEMA \(old) RENAME TO \(new)", schema: "public")
        let renamed = try DatabaseURL(server.url(ofSchema: new))
        for access in [PostgreSQLStore.Access.creating, .readOnly] {
            let error = #expect(throws: StoreError.self) { try PostgreSQLStore(renamed, access) }
            #expect(error?.description.contains("still work in that of \(old)") == true, "\(error?.description ?? "")")
        }
        // What is inserted there must not go to one that has taken the old name.
        let namesake = try PostgreSQLStore(DatabaseURL(server.url(ofSchema: old)))
        let page = try String(contentsOf: Repository.file("Sources/Cameo/Cameo.docc/FromOneToMany.md"), encoding: .utf8)
        let mend = try #require(page.firstMatch(of: /(?s)## Another schema.*?```sql\n(.*?)```/))
        _ = try await server.psql(["-v", "ON_ERROR_STOP=1"], input: String(mend.1).replacing("shop", with: new))
        let store = try PostgreSQLStore(renamed)
        #expect(try await store.enqueue([StoreFixture.request("file:///2")]).count == 1)
        let request = #"{"source": "initials:A", "renditions": [{"width": 9}]}"#
        _ = try await server.sql("INSERT INTO job(request) VALUES ('\(request)')", schema: new)
        #expect(try await store.status().count(.available) == 3)
        #expect(try await namesake.status().count(.available) == 0)
    }

    @Test func aSchemaMayHaveAKeywordsName() async throws {
        let store = try PostgreSQLStore(DatabaseURL(try await PostgreSQLServer.shared().url(ofSchema: "order")))
        #expect(try await store.enqueue([StoreFixture.request()]).count == 1)
        #expect(try await store.version() > 0)
        let again = try PostgreSQLStore(store.url, .readOnly)
        #expect(try await again.status().count(.available) == 1)
    }

    @Test func settingsOfARoleChangeNothing() async throws {
        let server = try await PostgreSQLServer.shared()
        let version = try #require(Int(try await server.sql("SHOW server_version_num", schema: "public")))
        let settings =
            [
                "standard_conforming_strings=off", "array_nulls=off", "bytea_output=escape", "extra_float_digits=-3",
                "synchronous_commit=off", "statement_timeout=20s", "lock_timeout=20s", "quote_all_identifiers=on",
            ] + (version >= 170_000 ? ["transaction_timeout=20s"] : [])
        let options = PercentEncoding.encoded(settings.map { "-c \($0)" }.joined(separator: " "))
        let plain = server.newURL()
        let name = "\(plain)&options=\(options)"
        let store = try PostgreSQLStore(DatabaseURL(name), .creating)
        // Tables that were made with a setting are sound without it, and others with it.
        _ = try PostgreSQLStore(DatabaseURL(plain), .readOnly)
        _ = try PostgreSQLStore(DatabaseURL(name), .readOnly)
        let seen = try await store.commit { db in
            try settings.compactMap { setting -> String? in
                let name = String(setting.prefix { $0 != "=" })
                let value: String? = try db.value("SELECT current_setting($1)", [name])
                return "\(name)=\(value ?? "")" == setting ? setting : nil
            }
        }
        #expect(seen.isEmpty)
        let worker = WorkerDescription(id: "w1", host: "h", pid: 1, version: "test", concurrency: 1)
        try await store.register(worker)
        let bytes = Data([0, 0x5C, 0x27, 0xFF])
        let digest = try await store.store(bytes, mediaType: nil)
        #expect(try await store.data(of: digest) == bytes)
        #expect(try await store.enqueue([StoreFixture.request("file:///\\'\"")]).count == 1)
        #expect(try await store.claim(limit: 1, for: "w1").count == 1)
        let producer = try Connection(DatabaseURL(name))
        let upload = """
            INSERT INTO \(store.url.quoted).upload(data, request)
            VALUES (decode('005c27ff', 'hex'), '{"renditions": [{"width": 9}]}')
            """
        try producer.run(script: upload)
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        #expect(job.uploadedBytes == bytes.count)
        #expect(try await store.absorbUpload(job).source.hasSuffix(digest.hex))
        try await store.extendLease(of: "w1")
        _ = try await store.sweep(for: "w1")
        _ = try await store.prune(Retention(), in: try await store.freeTurn())
        #expect(try await store.repair(in: try await store.freeTurn()).isEmpty)
        #expect(try await store.check().filter { $0.severity == .error }.isEmpty)
    }
}
