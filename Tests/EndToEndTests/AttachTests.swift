import CameoModel
import Foundation
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    /// Tables of programs that are followed while four clients change their rows and workers are killed: nothing is missing
    /// afterwards, and nothing is left over.
    @Suite(.timeLimit(.minutes(20)), .serialized)
    struct AttachTests {
        private static let pictures = "id integer PRIMARY KEY, picture text, code integer UNIQUE"

        @Test func inAFolder() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:First")
            let file = "\(deployment.store)/cameo.sqlite"
            let shell = ["sqlite3", "-cmd", ".timeout 60000", "-cmd", "PRAGMA wal_autocheckpoint=0", file]
            try await follow(deployment, table: "app_users", kind: "sqlite", sql: shell, name: "users.picture")
        }

        @Test func inAFileOfTheProgram() async throws {
            let deployment = try Deployment()
            let file = deployment.folder.path("app.sqlite")
            let shell = ["sqlite3", "-cmd", ".timeout 60000", file]
            try await follow(
                deployment,
                table: "users",
                kind: "sqlite",
                sql: shell,
                options: ["--in", file],
                name: "app.users.picture"
            )
        }

        @Test(.enabled(if: Fleet.isBuilt), arguments: [false, true]) func inAFleet(isParted: Bool) async throws {
            let fleet = try await Fleet()
            let psql = ["psql", "--quiet", "-At", fleet.store.replacing("&schema=cameo", with: "")]
            let parts = """
                CREATE TABLE users_low PARTITION OF users FOR VALUES FROM (0) TO (20);
                CREATE TABLE users_high PARTITION OF users DEFAULT;
                """
            try await follow(
                fleet.deployment,
                environment: fleet.variables,
                table: "users",
                kind: "postgresql",
                columns: isParted
                    ? "id integer PRIMARY KEY, picture text, code integer) PARTITION BY RANGE (id" : Self.pictures,
                sql: psql,
                then: isParted ? parts : "",
                name: "users.picture"
            )
        }

        /// Numbers of changes begin again in a file that is made anew.
        @Test func aFileThatIsMadeAnewIsFollowedAgain() async throws {
            let deployment = try Deployment()
            let file = deployment.folder.path("app.sqlite")
            func sql(_ statements: String) async throws -> String {
                let ran = try await run("sqlite3", ["-bail", file], input: Data(statements.utf8))
                try #require(ran.exitStatus == 0, "\(ran.errorText)")
                return ran.outputText
            }
            func make(_ pictures: String...) async throws {
                let rows = pictures.enumerated().map { "(\($0 + 1), 'initials:\($1)')" }.joined(separator: ", ")
                _ = try await sql(
                    "CREATE TABLE users(id INTEGER PRIMARY KEY, picture TEXT); INSERT INTO users VALUES \(rows);"
                )
            }
            let noDatabase = try deployment.folder.write(Data("no database".utf8), to: "text")
            let line = ["attach", "users.picture", "--key", "id", "--as", "url", "--preset", "avatar", "--in"]
            let refused = try await deployment.command("cameo-admin", line + [noDatabase])
            #expect(
                refused.exitStatus == 4 && refused.errorText.contains("text cannot be opened"),
                "\(refused.errorText)"
            )
            try await make("A", "B", "C")
            try await deployment.command("cameo-admin", line + [file]).succeeded()
            try await deployment.command("cameo-worker --drain").succeeded()
            let shown = "SELECT count(*) FROM cameo_users_picture WHERE state = 'completed' AND avatar_96_width = 96"
            #expect(try await sql(shown) == "3\n")

            for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: "\(file)\(end)") }
            try await make("D", "B")
            #expect(try await deployment.command("cameo-admin attach --check app.users.picture").exitStatus == 1)
            try await deployment.command("cameo-admin attach --repair app.users.picture").succeeded()
            try await deployment.command("cameo-worker --drain").succeeded()
            #expect(try await sql(shown) == "2\n")
            _ = try await sql("UPDATE users SET picture = 'initials:E' WHERE id = 1;")
            try await deployment.command("cameo-worker --drain").succeeded()
            try await deployment.command("cameo-admin attach --check app.users.picture").succeeded()
            let sources = try await deployment.command("cameo-status thumbs --json").outputText
            #expect(Set(sources.matches(of: #/initials:[A-Z]/#).map(\.output)) == ["initials:B", "initials:E"])
        }

        /// A host of an application without a worker.
        @Test func anOutboxIsMovedWithoutAWorker() async throws {
            let deployment = try Deployment()
            let file = deployment.folder.path("app.sqlite")
            func sql(_ statements: String) async throws -> String {
                let ran = try await run(
                    "sqlite3",
                    ["-bail", "-cmd", ".timeout 60000", file],
                    input: Data(statements.utf8)
                )
                try #require(ran.exitStatus == 0, "\(ran.errorText)")
                return ran.outputText
            }
            func move(_ options: String..., exits status: Int32 = 0) async throws -> ProcessResult {
                let moved = try await deployment.command("cameo-enqueue", ["--outbox", file] + options)
                #expect(moved.exitStatus == status, "\(moved.errorText)")
                return moved
            }
            _ = try await sql("CREATE TABLE users(id INTEGER PRIMARY KEY, picture TEXT);")
            _ = try await deployment.enqueue("initials:First")
            #expect(try await move(exits: 2).errorText.contains("none of its tables is attached to"))
            let missing = try await deployment.command("cameo-enqueue --outbox none.sqlite")
            #expect(missing.exitStatus == 4 && missing.errorText.contains("none.sqlite cannot be opened"))
            let named = try await move("initials:A", exits: 2)
            #expect(named.errorText.contains("--outbox has what to enqueue"))
            #expect(try await move("--size", "64x64", exits: 2).errorText.contains("--size: cannot be combined"))
            let attaching = "attach users.picture --key id --as url --preset avatar --in".split(separator: " ")
            try await deployment.command("cameo-admin", attaching.map(String.init) + [file]).succeeded()

            _ = try await sql("INSERT INTO users VALUES (1, 'initials:A'), (2, 'initials:B');")
            #expect(try await move("--json").outputText == #"{"changes":2,"name":"app.users.picture"}"# + "\n")
            #expect(try await move().outputText == "app.users.picture: 0 changes moved\n")
            let isNamed = "avatar_96_uri LIKE 'cameo://thumb/%'"
            let shown = "SELECT id || state || (\(isNamed)) FROM cameo_users_picture ORDER BY id"
            #expect(try await sql(shown) == "1available1\n2available1\n")
            try await deployment.command("cameo-worker --drain --log-level error").succeeded()

            let watch = try ChildProcess(
                try Deployment.executable("cameo-enqueue"),
                ["--outbox", file, "--watch"],
                environment: ["CAMEO_STORE": deployment.store]
            )
            defer { watch.killGroup() }
            _ = try await sql("DELETE FROM users WHERE id = 1; INSERT INTO users VALUES (3, 'initials:C');")
            try await eventually("changes are moved and shown") {
                try await sql(shown) == "2completed1\n3available1\n"
            }
            // The worker is another process, as on another host.
            try await deployment.command("cameo-worker --drain --log-level error").succeeded()
            try await eventually("what became of them is shown") {
                try await sql(shown) == "2completed1\n3completed1\n"
            }
            let said = String(decoding: watch.standardOutput, as: UTF8.self)
            #expect(said.contains("app.users.picture: 2 changes moved\n"))
            #expect(await watch.stop() == .signalled(SIGTERM))
            let sources = try await deployment.command("cameo-status thumbs --json").outputText
            let wanted = ["initials:B", "initials:C", "initials:First"]
            #expect(Set(sources.matches(of: #/initials:[A-Z][a-z]*/#).map { String($0.output) }).sorted() == wanted)

            // As frameworks do that make the table anew.
            #expect(try await deployment.command("cameo-enqueue initials:A").errorText == "")
            _ = try await sql(
                "CREATE TABLE fresh AS SELECT * FROM users; DROP TABLE users; ALTER TABLE fresh RENAME TO users;"
            )
            let told = try await deployment.command("cameo-enqueue initials:A").succeeded().errorText
            #expect(told.contains("app.users.picture is not followed any more: the triggers of users are gone"))
            #expect(told.contains("`cameo-admin attach --repair app.users.picture` mends that"))
            #expect(try await deployment.status().unfollowed?.map(\.name) == ["app.users.picture"])
        }

        /// Django, SQLAlchemy and Alembic write and alter their tables: none of their statements fails.
        @Test(.enabled(if: Fleet.isBuilt)) func frameworksHaveTheirTablesInAFile() async throws {
            let deployment = try Deployment()
            try await alter(["sqlite"], in: deployment, ["CAMEO_STORE": deployment.store])
        }

        @Test(.enabled(if: Fleet.isBuilt)) func frameworksHaveTheirTablesInADatabase() async throws {
            let fleet = try await Fleet()
            let folder = fleet.database.folder
            let port = fleet.database.port.map { ["PGPORT": "\($0)"] } ?? [:]
            try await alter(
                ["postgres", folder, "cameo"],
                in: fleet.deployment,
                fleet.variables.merging(port) { $1 }
            )
        }

        private func alter(
            _ arguments: [String],
            in deployment: Deployment,
            _ environment: [String: String?]
        ) async throws {
            let programs = URL(filePath: try Deployment.executable("cameo-admin")).deletingLastPathComponent().path
            let script = Repository.file("Tests/EndToEndTests/attach_frameworks.py").path
            let ran = try await run(
                Repository.file(".build/object-servers/bin/python").path,
                [script, programs, deployment.folder.path] + arguments,
                environment: environment
            )
            #expect(ran.exitStatus == 0 && ran.outputText == "done\n", "\(ran.outputText)\(ran.errorText)")
        }

        private func follow(
            _ deployment: Deployment,
            environment: [String: String?] = [:],
            table: String,
            kind: String,
            columns: String = Self.pictures,
            sql: [String],
            options: [String] = [],
            then more: String = "",
            name: String
        ) async throws {
            let made = try await run(
                "/usr/bin/env",
                sql,
                input: Data("CREATE TABLE \(table)(\(columns));\n\(more)".utf8)
            )
            try #require(made.exitStatus == 0 && made.errorText.isEmpty, "\(made.errorText)")
            let attaching =
                ["attach", "\(table).picture", "--key", "id", "--as", "url", "--preset", "avatar"] + options
            let attached = try await deployment.command("cameo-admin", attaching, environment: environment)
            try #require(attached.exitStatus == 0, "\(attached.errorText)")
            func start() throws -> ChildProcess {
                try deployment.startWorker(
                    ["--log-level", "error", "--render-concurrency", "1"],
                    environment: environment
                )
            }
            var worker = try start()
            defer { worker.killGroup() }
            let script = Repository.file("Tests/EndToEndTests/attach_load.py").path
            let count = TestLength.isFull ? 10_000 : 1_200
            let clients = try ChildProcess("/usr/bin/python3", [script, kind, table, "\(count)"] + sql)
            defer { clients.killGroup() }
            let isOver = Mutex(false)
            let end = Task {
                let ending = await clients.ending
                isOver.withLock { $0 = true }
                return ending
            }
            var kills = 0
            while !isOver.withLock(\.self) {
                // Nothing signals the moment at which a kill hurts.
                try await Task.sleep(for: .milliseconds(.random(in: 300...1_500)))
                guard kills < (environment.isEmpty ? 20 : 4) else { continue }
                worker.killGroup()
                worker = try start()
                kills += 1
            }
            let output = String(decoding: clients.standardOutput, as: UTF8.self)
            let errors = String(decoding: clients.standardError, as: UTF8.self)
            #expect(await end.value == .exited(0), "\(output)\(errors)")

            let rows = try await run(
                "/usr/bin/env",
                sql,
                input: Data("SELECT DISTINCT picture FROM \(table) WHERE picture LIKE 'initials:%';".utf8)
            )
            let wanted = Set(rows.outputText.split(separator: "\n").map(String.init).filter { $0 != "0" })
            #expect(wanted.count >= 10)
            // What was noted is moved, made and forgotten; then all is as the rows say.
            worker.killGroup()
            var last = ""
            defer { if !last.isEmpty { Issue.record("wanted \(wanted.sorted()): \(last)") } }
            try await eventually("there are the thumbnails of the rows, and no others") {
                let drain = ["--drain", "--log-level", "error"]
                let drained = try await deployment.command("cameo-worker", drain, environment: environment)
                try #require(drained.exitStatus == 0, "\(drained.errorText)")
                let checked = try await deployment.command(
                    "cameo-admin",
                    ["attach", "--check", name, "--json"],
                    environment: environment
                )
                let facts = try await deployment.command(
                    "cameo-status",
                    ["thumbs", "--json", "--limit", "1000"],
                    environment: environment
                )
                let shown = facts.outputText.matches(of: #/"source":"(initials:[0-9]+)"/#).map { String($0.output.1) }
                let isSo =
                    checked.exitStatus == 0 && checked.outputText.contains("\"waiting\":0") && Set(shown) == wanted
                last = isSo ? "" : "\(checked.outputText)\(Set(shown).sorted())"
                return isSo
            }
            let checked = try await deployment.command("cameo-admin", ["check"], environment: environment)
            #expect(checked.exitStatus == 0, "\(checked.outputText)\(checked.errorText)")
        }
    }
}
