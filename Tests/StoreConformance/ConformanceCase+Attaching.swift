import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    /// Tables of other programs that are followed.
    static let attaching: [ConformanceCase] = [
        ConformanceCase("rows enqueue, and forget what they had") { fixture in
            let users = try await fixture.attach()
            try await users.sql(
                "INSERT INTO T VALUES (1, 'initials:A', NULL), (2, NULL, NULL), (3, '', NULL), (4, 'https://a.example/4.png', NULL)"
            )
            #expect(try await users.states() == "1|available,4|available")
            try await users.runAll()
            #expect(try await users.states() == "1|completed,4|completed")
            let ids = try await users.thumbnails()
            #expect(
                try await users.sql("SELECT small_uri, small_width, small_type, small_bytes FROM V WHERE id = 4")
                    == "cameo://thumb/\(ids["4"] ?? "")|64|image/webp|9"
            )
            let request = Fixture.request("https://a.example/4.png") { $0.renditions = Users.renditions }
            #expect(try request.thumbnailIDs()[0].text == ids["4"])
            let labels = try await fixture.store.facts(of: [try #require(ThumbnailID(ids["4"] ?? ""))])[0].labels
            #expect(labels == [users.name, "\(users.name)/4"])

            // The same value, another row's, a rolled back one, another key, another value, none.
            let count = try await users.sql("SELECT count(*) FROM job")
            try await users.sql("UPDATE T SET picture = picture, owner = NULL")
            try await users.sql("BEGIN; DELETE FROM T; INSERT INTO T VALUES (9, 'initials:Z', NULL); ROLLBACK")
            #expect(try await users.sql("SELECT count(*) FROM job") == count)
            #expect(try await users.sql("SELECT count(*) FROM forget") == "0")
            try await users.sql("UPDATE T SET id = 40 WHERE id = 4")
            try await users.runAll()
            #expect(try await users.thumbnails()["40"] == ids["4"])
            try await users.expect(shown: ids["4"], true)
            try await users.sql("UPDATE T SET picture = 'initials:B' WHERE id = 40")
            try await users.expect(shown: ids["4"], false)
            try await users.runAll()
            #expect(try await users.states() == "1|completed,40|completed")
            try await users.sql("UPDATE T SET picture = NULL WHERE id = 40; DELETE FROM T WHERE id = 1")
            #expect(try await users.states() == "")
            try await users.expect(shown: ids["1"], false)
            #expect(try await users.sql("SELECT count(*) FROM thumbnail") == "0")
            try await users.isSound(rows: 0)
        },
        ConformanceCase("a source stays as long as a row has it") { fixture in
            let users = try await fixture.attach()
            try await users.sql(
                "INSERT INTO T VALUES (1, 'initials:A', NULL), (2, 'initials:A', NULL), (3, 'initials:A', NULL)"
            )
            try await users.runAll()
            let id = try await users.thumbnails()["1"]
            try await users.sql("DELETE FROM T WHERE id = 1; UPDATE T SET picture = 'initials:B' WHERE id = 2")
            try await users.runAll()
            try await users.expect(shown: id, true)
            let labels = try await fixture.store.facts(of: [try #require(ThumbnailID(id ?? ""))])[0].labels
            #expect(labels == [users.name, "\(users.name)/3"])
            try await users.sql(
                "BEGIN; DELETE FROM T WHERE id = 3; INSERT INTO T VALUES (3, 'initials:A', NULL); COMMIT"
            )
            try await users.runAll()
            try await users.expect(shown: id, true)
            try await users.sql("DELETE FROM T WHERE id = 3")
            try await users.expect(shown: id, false)
            try await users.isSound(rows: 1)
        },
        ConformanceCase("a value that is no picture fails nothing, and says why") { fixture in
            let users = try await fixture.attach(base: "https://cdn.example/m/")
            let long = String(repeating: "x", count: 3_000)
            let values = [
                ("file:///etc/passwd", "it is no http:"), ("cameo://thumb/1", "it is no http:"),
                ("ftp://x.example/a", "it is no http:"),
                ("https://other.example/a", "it is not below https://cdn.example/m/"),
                ("https://cdn.example/m/../secret", "it is not below"), ("../a", "it is not below"),
                ("a/../../b", "it is not below"), ("a%2E%2e/b", "it is not below"), ("/a", "it is not below"),
                ("\\\\a", "it is not below"), ("..?x", "it is not below"), (long, "it is too long"),
            ]
            for (number, (value, _)) in values.enumerated() {
                try await users.sql("INSERT INTO T VALUES (\(number), '\(value.replacing("\\\\", with: "\\"))', NULL)")
            }
            for (number, (value, reason)) in values.enumerated() {
                let row = try await users.sql(
                    "SELECT state, failure_code, failure_message FROM V WHERE id = \(number)"
                )
                #expect(row.hasPrefix("invalid|invalid|\(reason)"), "\(value.prefix(40)): \(row)")
            }
            #expect(try await users.sql("SELECT count(*) FROM job") == "0")
            let good = [
                ("a/b.jpg", "https://cdn.example/m/a/b.jpg"),
                ("https://cdn.example/m/x?y=1", "https://cdn.example/m/x?y=1"),
                ("ä b%/(1)?#+.png", "https://cdn.example/m/%C3%A4%20b%25/%281%29%3F%23%2B.png"),
                ("..a/b..c", "https://cdn.example/m/..a/b..c"), ("initials:Q", "initials:Q"), ("data:,x", "data:,x"),
                ("it''s \"x\".png", "https://cdn.example/m/it%27s%20%22x%22.png"),
            ]
            for (number, (value, source)) in good.enumerated() {
                try await users.sql("UPDATE T SET picture = '\(value)' WHERE id = \(number)")
                let row = try await users.sql("SELECT source FROM attached WHERE key = '\(number)'")
                #expect(row == source)
            }
            try await users.sql("UPDATE T SET picture = NULL WHERE id >= \(good.count)")
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(
                try await users.sql("SELECT count(*) FROM attached WHERE length(thumbnails) = 64") == "\(good.count)"
            )
            try await users.isSound(rows: good.count)
        },
        ConformanceCase("paths are the sources that the commands make of them") { fixture in
            let users = try await fixture.attach(.path, base: "/srv/my pictures/")
            let paths = [
                "/srv/my pictures/a b.jpg", "c%20d/ö\u{1F600}.png", "~user/-_.txt", "a+b=c&d;e,f@g:h!i$j*k.jpg",
            ]
            for (number, path) in paths.enumerated() {
                try await users.sql("INSERT INTO T VALUES (\(number), '\(path)', NULL)")
                let whole = path.hasPrefix("/") ? path : "/srv/my pictures/\(path)"
                let source = try await users.sql("SELECT source FROM attached WHERE key = '\(number)'")
                #expect(source == FileURI(path: Array(whole.utf8)).text)
            }
            try await users.sql("INSERT INTO T VALUES (7, '/etc/passwd', NULL), (8, 'https://a.example/b', NULL)")
            #expect(try await users.sql("SELECT count(*) FROM V WHERE state = 'invalid'") == "2")
        },
        ConformanceCase("bytes of a column are pictures by the row that has them") { fixture in
            let users = try await fixture.attach(.bytes)
            let bytes = { (text: String) in "CAST('\(text)' AS \(users.bytesType))" }
            try await users.sql("INSERT INTO T VALUES (1, \(bytes("one")), NULL), (2, \(bytes("one")), NULL)")
            try await users.runAll()
            let first = try await users.thumbnails()
            #expect(first["1"] != first["2"] && first.count == 2)
            try await users.sql("UPDATE T SET picture = \(bytes("two")) WHERE id = 1")
            try await users.expect(shown: first["1"], false)
            try await users.expect(shown: first["2"], true)
            try await users.runAll()
            try await users.expect(shown: try await users.thumbnails()["1"], true)
            try await users.sql("UPDATE T SET owner = 'x' WHERE id = 1")
            #expect(try await users.sql("SELECT count(*) FROM job") == "3")
            try await users.sql("DELETE FROM T")
            #expect(try await users.sql("SELECT count(*) FROM thumbnail") == "0")
            #expect(try await users.sql("SELECT count(*) FROM source") == "0")
            try await users.isSound(rows: 0)
        },
        ConformanceCase("rows that exist are read bit by bit, and again for other renditions") { fixture in
            let users = try await fixture.attach(rows: 450)
            #expect(try await users.states().isEmpty)
            #expect(try await fixture.store.fillAttachment(users.name) == AttachmentStep(rows: 200, isLast: false))
            try await users.sql("INSERT INTO T VALUES (1000, 'initials:New', NULL)")
            let other = try await fixture.another()
            #expect(try await other.fillAttachment(users.name) == AttachmentStep(rows: 200, isLast: false))
            #expect(try await other.fillAttachment(users.name) == AttachmentStep(rows: 51, isLast: true))
            #expect(try await users.sql("SELECT count(*) FROM attached WHERE queue = 'backfill'") == "450")
            #expect(try await fixture.store.attachments()[0].isFilled)
            try await users.runAll()
            #expect(try await users.sql("SELECT count(*) FROM V WHERE state = 'completed'") == "451")
            try await users.isSound(rows: 451)
            try await users.attachAgain(Users.renditions + [Rendition(name: "large", width: 900)])
            #expect(try await !fixture.store.attachments()[0].isFilled)
            while try await !fixture.store.fillAttachment(users.name).isLast {}
            try await users.runAll()
            #expect(
                try await users.sql(
                    "SELECT count(*) FROM V WHERE state = 'completed' AND large_uri IS NOT NULL AND small_width = 64"
                ) == "451"
            )
            #expect(try await users.sql("SELECT count(*) FROM forget") == "0")
            #expect(try await users.sql("SELECT count(*) FROM thumbnail") == "\(451 * 3)")
        },
        ConformanceCase("what happened unseen is found and mended") { fixture in
            let users = try await fixture.attach()
            try await users.sql(
                "INSERT INTO T VALUES (1, 'initials:A', NULL), (2, 'initials:B', NULL), (3, 'initials:C', NULL)"
            )
            try await users.runAll()
            let before = try await users.thumbnails()
            try await users.loseTriggers()
            try await users.sql(
                "DELETE FROM T WHERE id = 1; UPDATE T SET picture = 'initials:D' WHERE id = 2; INSERT INTO T VALUES (4, 'initials:E', NULL)"
            )
            let lost = ForgetSelector(.source("initials:C"))
            #expect(try await fixture.store.forget(lost, atOnce: false).thumbnails == 2)
            try await fixture.engine.acceptArrivals(in: fixture.another())
            #expect(try await fixture.store.status().unfollowed?.map(\.name) == [users.name])
            var counts = AttachmentCounts()
            (counts.rows, counts.missing, counts.stale, counts.orphaned, counts.lost) = (3, 1, 1, 1, 1)
            #expect(try await fixture.store.compareAttachment(users.name) { _ in } == counts)
            try await fixture.store.mendAttachment(users.name)
            while try await !fixture.store.fillAttachment(users.name).isLast {}
            #expect(try await fixture.store.status().unfollowed == nil)
            try await users.runAll()
            #expect(try await users.states() == "2|completed,3|completed,4|completed")
            try await users.expect(shown: before["1"], false)
            try await users.expect(shown: before["2"], false)
            try await users.isSound(rows: 3)
            try await users.sql("INSERT INTO T VALUES (5, 'initials:F', NULL)")
            #expect(try await users.states().hasSuffix("5|available"))
        },
        ConformanceCase("who looks is told of lost triggers, and so is the status") { fixture in
            let users = try await fixture.attach()
            #expect(try await fixture.store.attachmentsAfterLook().map(\.trouble) == [nil])
            try await users.loseTriggers()
            let told = try await fixture.store.attachmentsAfterLook()
            #expect(told.map(\.name) == [users.name] && told[0].trouble?.contains("the triggers of") == true)
            #expect(try await fixture.store.status().unfollowed?.first?.reason == told[0].trouble)
            #expect(try await fixture.store.attachmentsAfterLook().map(\.trouble) == [told[0].trouble])
            try await fixture.store.mendAttachment(users.name)
            #expect(try await fixture.store.attachmentsAfterLook().map(\.trouble) == [nil])
        },
        ConformanceCase("a failure stays when its job is removed") { fixture in
            let users = try await fixture.attach()
            try await users.sql("INSERT INTO T VALUES (1, 'https://a.example/x', NULL), (2, 'initials:\u{1}', NULL)")
            let job = try #require(try await fixture.claim().first)
            try await fixture.store.settle(job.claim, as: .discard(Fixture.failure), timings: AttemptTimings())
            let row = "SELECT state, failure_code, failure_message FROM V WHERE id = 1"
            #expect(try await users.sql(row) == "discarded|source.timeout|slow")
            fixture.clock.advance(seconds: 86_400)
            var retention = Retention.forever
            (retention.completed, retention.discarded, retention.cancelled) = (.zero, .zero, .zero)
            try await fixture.prune(retention)
            #expect(try await users.sql("SELECT count(*) FROM job") == "0")
            #expect(try await users.sql(row) == "discarded|source.timeout|slow")
            #expect(try await users.states() == "1|discarded,2|invalid")
            // Whose rows are as they were.
            try await fixture.store.mendAttachment(users.name)
            while try await !fixture.store.fillAttachment(users.name).isLast {}
            #expect(try await users.states() == "1|discarded,2|invalid")
            #expect(try await users.sql("SELECT count(*) FROM forget") == "0")
        },
        ConformanceCase("a column labels the thumbnails of its rows") { fixture in
            let users = try await fixture.attach(label: "owner")
            try await users.sql("INSERT INTO T VALUES (1, 'initials:A', 'user:1')")
            try await users.runAll()
            let id = try #require(ThumbnailID(try await users.thumbnails()["1"] ?? ""))
            #expect(
                try await fixture.store.facts(of: [id])[0].labels == ["user:1", users.name, "\(users.name)/1"].sorted()
            )
            try await users.sql("UPDATE T SET owner = 'user:2' WHERE id = 1")
            try await users.runAll()
            #expect(try await fixture.store.facts(of: [id])[0].labels.contains("user:2"))
            try await users.isSound(rows: 1)
        },
        ConformanceCase("detached, a table is followed no more") { fixture in
            let users = try await fixture.attach()
            try await users.sql("INSERT INTO T VALUES (1, 'initials:A', NULL)")
            try await users.runAll()
            let id = try await users.thumbnails()["1"]
            try await fixture.store.detach(users.name, forgetting: false)
            try await users.sql("DELETE FROM T; INSERT INTO T VALUES (2, 'initials:B', NULL)")
            try await users.expect(shown: id, true)
            #expect(try await users.sql("SELECT count(*) FROM attached") == "0")
            await #expect(throws: StoreError.noSuch(.attachment, users.name)) {
                try await fixture.store.detach(users.name, forgetting: false)
            }
            try await users.attachAgain(Users.renditions)
            while try await !fixture.store.fillAttachment(users.name).isLast {}
            try await users.runAll()
            let other = try await users.thumbnails()["2"]
            try await fixture.store.detach(users.name, forgetting: true)
            try await users.expect(shown: other, false)
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("what cannot be attached says so") { fixture in
            let users = try await fixture.attach()
            func refusal(_ change: (inout [String: String]) -> Void) async -> String {
                var names = ["table": users.table, "column": "picture", "key": "id"]
                change(&names)
                let wanted = WantedAttachment(
                    table: names["table"] ?? "",
                    column: names["column"] ?? "",
                    key: names["key"] ?? "",
                    kind: .url,
                    renditions: Users.renditions
                )
                let error = await #expect(throws: StoreError.self) { _ = try await fixture.store.attach(wanted) }
                return error?.description ?? ""
            }
            #expect(await refusal { $0["table"] = "app_nobody" }.contains("there is no table app_nobody"))
            #expect(await refusal { $0["table"] = "job" }.contains("job"))
            #expect(await refusal { $0["column"] = "photo" }.contains("no column photo (it has id, owner, picture)"))
            #expect(
                await refusal { $0["key"] = "owner" }.contains("does not tell its rows apart by itself (these do: id)")
            )
            #expect(try await fixture.store.attachments().count == 1)
        },
        ConformanceCase("the statements for a migration may be repeated") { fixture in
            let users = try await fixture.attach()
            let script = try await fixture.store.script(attaching: users.wanted(Users.renditions))
            try await users.sql("INSERT INTO T VALUES (1, 'initials:A', NULL)")
            try await fixture.store.detach(users.name, forgetting: true)
            for _ in 0..<2 { try await fixture.sql(script) }
            try await users.sql("INSERT INTO T VALUES (2, 'initials:B', NULL)")
            try await users.runAll()
            #expect(try await users.states() == "2|completed")
            while try await !fixture.store.fillAttachment(users.name).isLast {}
            try await users.isSound(rows: 2)
        },
    ]
}

/// A table of another program that is followed.
private struct Users {
    static let renditions = [Rendition(name: "small", width: 64), Rendition(name: "medium", width: 128)]

    let fixture: Fixture
    let table: String
    let kind: AttachedKind
    let base: String
    let label: String?
    var attachment: CameoStore.Attachment?

    var name: String { attachment?.name ?? "" }
    var bytesType: String { table.contains(".") ? "bytea" : "BLOB" }

    func wanted(_ renditions: [Rendition]) -> WantedAttachment {
        WantedAttachment(
            table: table,
            column: "picture",
            key: "id",
            kind: kind,
            base: base,
            label: label,
            renditions: renditions
        )
    }

    /// Runs statements about the table, `T`, and its view, `V`.
    @discardableResult
    func sql(_ statements: String) async throws -> String {
        try await fixture.sql(
            statements.replacing(/\bT\b/, with: table).replacing(/\bV\b/, with: attachment?.view ?? "")
        )
    }

    func attachAgain(_ renditions: [Rendition]) async throws {
        _ = try await fixture.store.attach(wanted(renditions))
    }

    func states() async throws -> String {
        try await sql("SELECT id, state FROM V ORDER BY id").replacing("\n", with: ",")
    }

    /// The first thumbnail of each row.
    func thumbnails() async throws -> [String: String] {
        let rows = try await sql("SELECT key, substr(thumbnails, 1, 32) FROM attached WHERE thumbnails <> ''")
        return Dictionary(
            uniqueKeysWithValues: rows.split(separator: "\n").map { row in
                let parts = row.split(separator: "|")
                return (String(parts[0]), String(parts[1]))
            }
        )
    }

    /// Runs all jobs as a worker does.
    func runAll() async throws {
        try await fixture.engine.acceptArrivals(in: fixture.store)
        while true {
            let jobs = try await fixture.claim(50)
            if jobs.isEmpty { return }
            for job in jobs {
                var request = try job.parsedRequest()
                if request.source.hasPrefix("upload:") { request = try await fixture.store.absorbUpload(job) }
                let seen = try await fixture.store.beginFetch(job.claim, of: request).sourceSeen
                let thumbnails = zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
                    RenderedThumbnail(
                        id: id,
                        rendition: rendition,
                        encoded: .made(of: Data("thumbnail".utf8), hasAlpha: true),
                        overlayDigest: nil
                    )
                }
                let product = JobProduct.rendered(thumbnails, try Fixture.provenance(of: request.source, seen: seen))
                try await fixture.store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
            }
        }
    }

    func expect(shown id: String?, _ isShown: Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let id = try #require(ThumbnailID(id ?? ""), sourceLocation: sourceLocation)
        let data = try? await fixture.store.data(of: .thumbnail(id))
        #expect((data != nil) == isShown, sourceLocation: sourceLocation)
    }

    /// As a framework does that makes the table anew.
    func loseTriggers() async throws {
        if table.contains(".") {
            try await sql("ALTER TABLE T DISABLE TRIGGER USER")
        } else {
            try await sql("CREATE TABLE app_new AS SELECT * FROM T; DROP TABLE T; ALTER TABLE app_new RENAME TO T")
        }
    }

    func isSound(rows: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let counts = try await fixture.store.compareAttachment(name) { _ in }
        #expect(counts.rows == rows && !counts.needsRepair, "\(counts)", sourceLocation: sourceLocation)
        #expect(try await fixture.faults() == [], sourceLocation: sourceLocation)
    }
}

extension Fixture {
    /// Makes a table with some rows, and attaches its column of pictures.
    fileprivate func attach(
        _ kind: AttachedKind = .url,
        base: String = "",
        label: String? = nil,
        rows: Int = 0
    ) async throws -> Users {
        let table = try await engine.guestTable(in: store)
        try await register()
        var users = Users(fixture: self, table: table, kind: kind, base: base, label: label)
        let type = kind == .bytes ? users.bytesType : "text"
        try await users.sql("CREATE TABLE T(id integer PRIMARY KEY, picture \(type), owner text)")
        if rows > 0 {
            let values = (1...rows).map { "(\($0), 'initials:\($0)', NULL)" }.joined(separator: ", ")
            try await users.sql("INSERT INTO T VALUES \(values)")
        }
        users.attachment = try await store.attach(users.wanted(Users.renditions))
        if rows == 0 { _ = try await store.fillAttachment(users.name) }
        return users
    }
}
