import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Whole commands on PostgreSQL and S3.
    @Suite(.timeLimit(.minutes(10)), .serialized, .enabled(if: Fleet.isBuilt))
    struct FleetTests {
        @Test func threeWorkersMakeEachThumbnailOnceAndItsBytesAreInTheBucket() async throws {
            let fleet = try await Fleet()
            for index in 0..<24 { try fleet.deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            let enqueued = try await fleet.command(
                "cameo-enqueue pictures/* --size 64x64:cover:webp --size 600x:png --batch all"
            ).succeeded()
            let uris = enqueued.outputText.matches(of: #/cameo:\/\/thumb\/[0-9a-f]+/#).map { String($0.output) }
            #expect(uris.count == 48)
            // The place of the bytes is remembered by the database.
            try await withThrowingTaskGroup(of: ProcessResult.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        let drain = "cameo-worker --drain --allow-root \(fleet.deployment.pictures) --log-level error"
                        return try await fleet.command(drain, environment: ["CAMEO_BLOBS": nil])
                    }
                }
                for try await drained in group { #expect(drained.exitStatus == 0, "\(drained.errorText)") }
            }
            #expect(try await fleet.number("SELECT count(*) FROM job_status WHERE state = 'completed'") == 24)
            #expect(try await fleet.number("SELECT count(*) FROM attempt WHERE outcome = 'completed'") == 24)
            #expect(try await fleet.number("SELECT count(*) FROM thumbnail") == 48)
            #expect(try await fleet.number("SELECT count(*) FROM blob WHERE size > 102400 AND data IS NULL") == 1)
            let checked = try await fleet.command("cameo-admin check --repair")
            #expect(checked.exitStatus == 0, "\(checked.outputText)\(checked.errorText)")
            #expect(checked.outputText.contains("pg_amcheck") && checked.outputText.contains("ok\tfiles"))
            #expect(!checked.outputText.contains("mended"), "\(checked.outputText)")
            for uri in uris.prefix(2) {
                let read = try await fleet.command("cameo-status cat \(uri)", environment: ["CAMEO_BLOBS": nil])
                    .succeeded()
                let format = PictureFormat(sniffing: read.standardOutput.prefix(64))
                #expect(format == (uri == uris[0] ? .webp : .png))
            }
        }

        /// One that has no folder, or may not read there, leaves a job to one that has; if none has, it ends.
        @Test(.enabled(if: getuid() == 0, "needs root"))
        func aJobIsDoneByTheHostThatHasItsFolder() async throws {
            let fleet = try await Fleet()
            for index in 0..<12 { try fleet.deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            func start(_ host: String, root: String) throws -> ChildProcess {
                try ChildProcess(
                    "/usr/bin/unshare",
                    ["--uts", "sh", "-c", #"hostname "$0" && exec "$@""#, host]
                        + [try Deployment.executable("cameo-worker"), "--allow-root", root, "--log-level", "error"],
                    environment: fleet.variables
                )
            }
            let without = try TemporaryFolder()
            let workers = [
                try start("has-none", root: without.path), try start("has-it", root: fleet.deployment.pictures),
            ]
            defer { for worker in workers { worker.killGroup() } }
            // A job that no worker can do ends.
            try await eventually("both run") { (try? await fleet.number("SELECT count(*) FROM worker")) == 2 }
            try await fleet.command("cameo-enqueue pictures/* --size 64x64").succeeded()
            let states = "SELECT count(*) FROM job_status WHERE state"
            try await eventually("all are done") { try await fleet.number("\(states) = 'completed'") == 12 }
            #expect(try await fleet.number("SELECT max(attempt) FROM outcome") == 1)
            _ = try fleet.deployment.folder.write(Data("no picture".utf8), to: "elsewhere.jpg")
            let nowhere = try await fleet.command("cameo-enqueue elsewhere.jpg --size 64x64 --wait")
            #expect(nowhere.exitStatus == 1, "\(nowhere.errorText)")
            let failure = try await fleet.sql("SELECT failure->>'message' FROM outcome WHERE failure IS NOT NULL")
            #expect(failure.contains("has-none") && failure.contains("has-it"), "\(failure)")
        }

        /// Before anything is enqueued.
        @Test(arguments: ["off", "on"])
        func whoMayOnlyEnqueueIsToldThatItForgetsNothing(producersRead: String) async throws {
            let fleet = try await Fleet()
            for name in ["a.jpg", "b.jpg"] { try fleet.deployment.add(try await Pictures.photo("jpg"), as: name) }
            let line = "cameo-enqueue -r pictures --size 64x64"
            try await fleet.command(line).succeeded()
            let script = Repository.file("deploy/postgresql/roles.sql").path
            let roles = ["-v", "producers_read=\(producersRead)", "-f", script]
            #expect(try await fleet.database.psql(roles).exitStatus == 0)
            _ = try await fleet.sql("CREATE ROLE uploads LOGIN IN ROLE cameo_producer")
            let role: [String: String?] = ["CAMEO_STORE": fleet.database.url(ofSchema: "cameo", user: "uploads")]
            try await fleet.command(line, environment: role).succeeded()
            let jobs = try await fleet.number("SELECT count(*) FROM job")
            try FileManager.default.removeItem(atPath: "\(fleet.deployment.pictures)/a.jpg")
            let refused = try await fleet.command("\(line) --forget-deleted", environment: role)
            let reason = "cameo-enqueue: --forget-deleted needs the rights of an operator: "
            #expect(refused.exitStatus == 4 && refused.errorText.hasPrefix(reason), "\(refused.errorText)")
            #expect(try await fleet.number("SELECT count(*) FROM job") == jobs)
        }

        /// Whatever a program prints, logs or passes on.
        @Test(arguments: ["cameo:Sesame%3FMohn@", "cameo:Sesame%2FMohn@", "cameo:Sesame%40Mohn@"])
        func noProgramShowsThePassword(user: String) async throws {
            let fleet = try await Fleet()
            let store = fleet.store.replacing(/\/\/[^@]*@/, with: "//\(user)", maxReplacements: 1)
            let variables: [String: String?] = ["CAMEO_STORE": store]
            var shown = ""
            func note(_ name: String, _ arguments: String...) async throws {
                let result = try await fleet.command(name, arguments, environment: variables)
                #expect(result.exitStatus < 2, "\(name) \(arguments): \(result.errorText)")
                shown += result.outputText + result.errorText
            }
            try await note("cameo-enqueue", "initials:JD", "--json")
            try await note("cameo-worker", "--drain", "--log-level", "trace")
            try await note("cameo-status", "--json")
            try await note("cameo-status", "metrics")
            try await note("cameo-status", "health", "--json")
            try await note("cameo-admin", "check", "--json")
            let worker = try fleet.deployment.startWorker(
                ["--log-level", "trace"],
                environment: fleet.variables.merging(variables) { $1 }
            )
            defer { worker.killGroup() }
            try await eventually("it runs") { try await fleet.number("SELECT count(*) FROM worker") == 1 }
            shown += try await run("ps", ["-eo", "args"]).outputText
            try await note("cameo-status", "--json")
            shown += String(decoding: worker.standardError, as: UTF8.self)
            #expect(shown.contains("cameo-worker"))
            let told = shown.split(separator: "\n").filter { $0.contains("Sesame") || $0.contains("Mohn@") }
            #expect(told.isEmpty, "\(told)")
        }

        /// It makes no more for a bucket that is gone, and that is no picture's fault.
        @Test func aDrainWithoutItsBucketLeavesItsJobs() async throws {
            let fleet = try await Fleet()
            let proxy = try await FaultyProxy.start(before: fleet.objects.port)
            let place: [String: String?] = ["CAMEO_BLOBS": fleet.objects.name("pictures", port: proxy.port)]
            for index in 0..<4 { try fleet.deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            func drain(_ pictures: [String]) async throws -> (result: ProcessResult, puts: Int) {
                let before = try await proxy.requests().count { $0.hasPrefix("PUT") }
                let wanted = pictures + ["--size", "600x:png"]
                try await fleet.command("cameo-enqueue", wanted, environment: place).succeeded()
                let arguments = ["--drain", "--allow-root", fleet.deployment.pictures, "--concurrency", "1"]
                let result = try await fleet.command("cameo-worker", arguments, environment: place)
                return (result, try await proxy.requests().count { $0.hasPrefix("PUT") } - before)
            }
            // The first leaves the store's mark.
            let first = try await drain(["pictures/p0.jpg"])
            #expect(first.result.exitStatus == 0, "\(first.result.errorText)")
            try await proxy.add(.answer(404, "NoSuchBucket").times(1_000_000, "PUT"))
            let second = try await drain(["pictures/p1.jpg", "pictures/p2.jpg", "pictures/p3.jpg"])
            #expect(second.result.exitStatus == 4 && second.puts == 3, "\(second.result.errorText)")
            #expect(second.result.errorText.contains("NoSuchBucket"))
            // As they were: nobody waits for the lease of the ended worker.
            let left =
                "SELECT state, attempt, count(*) FROM job_status WHERE state <> 'completed' GROUP BY state, attempt"
            #expect(try await fleet.sql(left) == "available|0|3")
            #expect(try await fleet.sql("SELECT id FROM worker") == "")
        }

        /// The commit stands on the server, and waits for a standby that does not exist.
        @Test func aStandbyThatIsAwayIsNamedAndNobodyHangs() async throws {
            let fleet = try await Fleet()
            try await fleet.command("cameo-enqueue initials:AB").succeeded()
            let worker = try fleet.deployment.startWorker(["--grace", "5s"], environment: fleet.variables)
            try await eventually("its job is done") {
                try await fleet.number("SELECT count(*) FROM job_status WHERE state = 'completed'") == 1
            }
            let tokens = try fleet.deployment.folder.write(
                Data("test read,enqueue 0123456789abcdef\n".utf8),
                to: "tokens"
            )
            let (web, url) = try await fleet.startWeb("--tokens", tokens)
            defer { web.killGroup() }
            func curl(_ arguments: String...) async throws -> String {
                let authorization = ["-sS", "-H", "Authorization: Bearer 0123456789abcdef"]
                return try await run("curl", authorization + arguments).outputText
            }
            func text(_ process: ChildProcess) -> String { String(decoding: process.standardError, as: UTF8.self) }
            func setStandby(_ change: String) async throws {
                _ = try await fleet.sql("ALTER SYSTEM \(change); SELECT pg_reload_conf()")
            }
            func waitUntilReadySays(_ reason: String) async throws {
                try await eventually("the server is not ready, and says why") {
                    try await curl("--max-time", "60", url + "health/ready").contains(reason)
                }
            }
            // The worker's own commits, such as those of its maintenance, hold locks: the request's is to be the first that waits.
            let busy = """
                SELECT count(*) FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle'
                """
            try await eventually("the worker rests") {
                worker.send(SIGSTOP)
                if try await fleet.number(busy) == 0 { return true }
                worker.send(SIGCONT)
                return false
            }
            try await setStandby("SET synchronous_standby_names = 'absent'")
            let waits = "a commit waits for a synchronous standby (SyncRep):"
            let request = #"{"source":"initials:EF","renditions":[{"width":9}]}"#
            async let posted = curl("-H", "Content-Type: application/json", "-d", request, url + "jobs")
            // Whoever asks whether the server is ready has it commit, too.
            try await eventually("the request's commit waits") {
                try await fleet.number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") > 0
            }
            worker.send(SIGCONT)
            try await waitUntilReadySays("\(waits) it stands on")
            // Its commit holds locks for which others wait.
            async let late = fleet.command("cameo-enqueue initials:CD")
            // Whoever only reads sees it too.
            try await eventually("health says so") {
                let health = try await fleet.command("cameo-status health")
                return health.exitStatus == 1
                    && health.outputText.contains("failed\tcommits\tcommits wait for a synchronous")
            }
            try await eventually("the worker says why it waits") { text(worker).contains(waits) }
            worker.send(SIGTERM)
            let ending = await worker.ending
            #expect(ending != .signalled(SIGKILL), "\(text(worker))")
            let answer = try await posted
            #expect(answer.contains(#""status":504"#), "\(answer)")
            #expect(answer.contains("Idempotency-Key"), "\(answer)")
            let refused = try await late
            #expect(refused.exitStatus == 4 && refused.outputText == "", "\(refused.errorText)")
            #expect(refused.errorText.contains("cameo-enqueue: \(waits) that of another"), "\(refused.errorText)")
            #expect(refused.errorText.contains("nothing was written, because \(waits)"), "\(refused.errorText)")
            // Nothing of Cameo's has cancelled a wait: the commit is there once the standby is not waited for any more.
            #expect(try await fleet.number("SELECT count(*) FROM job") == 1)
            try await setStandby("RESET synchronous_standby_names")
            try await eventually("what was posted is there") { try await fleet.number("SELECT count(*) FROM job") == 2 }

            try await setStandby("SET synchronous_standby_names = 'absent'")
            let command = try await fleet.command("cameo-enqueue initials:CD")
            #expect(command.exitStatus == 5 && command.outputText == "", "\(command.errorText)")
            #expect(command.errorText.contains("cameo-enqueue: \(waits) it stands on"), "\(command.errorText)")
            let safe =
                #/perhaps accepted.*the same command again is safe, because it joins the job for cameo://thumb/[0-9a-f]{32}/#
            #expect(command.errorText.contains(safe), "\(command.errorText)")
            try await setStandby("RESET synchronous_standby_names")
            try await fleet.command("cameo-enqueue initials:CD").succeeded()
            #expect(try await fleet.number("SELECT count(*) FROM job") == 3)
        }

        /// The database went with all jobs, so its worker ends, and says why.
        @Test func aWorkerOfADroppedDatabaseEnds() async throws {
            let fleet = try await Fleet()
            _ = try await fleet.database.psql(["-c", "CREATE DATABASE gone"])
            let store = ["CAMEO_STORE": fleet.store.replacing("/postgres?", with: "/gone?")] as [String: String?]
            let worker = try fleet.deployment.startWorker([], environment: fleet.variables.merging(store) { $1 })
            try await eventually("the worker is registered") {
                let count = ["-d", "gone", "-c", "SELECT count(*) FROM cameo.worker"]
                return try await fleet.database.psql(count).outputText == "1\n"
            }
            _ = try await fleet.database.psql(["-c", "DROP DATABASE gone WITH (FORCE)"])
            let ending = await worker.ending
            let text = String(decoding: worker.standardError, as: UTF8.self)
            #expect(ending == .exited(4) && text.contains(#"database "gone" does not exist"#), "\(ending) \(text)")
        }

        /// A monitor learns within seconds that the database or the bucket is gone, and why.
        @Test func monitorsAreAnsweredWithoutDatabaseAndBucket() async throws {
            let fleet = try await Fleet()
            let proxy = try await FaultyProxy.start(before: fleet.objects.port)
            let place = fleet.objects.name("pictures", port: proxy.port)
            try await fleet.command("cameo-enqueue initials:JD", environment: ["CAMEO_BLOBS": place]).succeeded()
            let (web, url) = try await fleet.startWeb("--blobs", place)
            defer { web.killGroup() }
            func get(_ path: String) async throws -> String {
                try await run("curl", ["-sS", "--max-time", "120", url + path]).outputText
            }
            #expect(try await get("metrics").contains("cameo_store_up 1\n"))
            try await eventually("the bucket answers") {
                try await get("health/ready").contains(#""bytes":"ok""#)
            }
            try await proxy.add(.stall.times(1_000))
            try await eventually("the bucket's silence is seen") {
                try await get("health/ready").contains(#""bytes":"no answer within 5 seconds""#)
            }
            try await fleet.database.stop(.immediate)
            let metrics = try await get("metrics")
            #expect(metrics.contains("cameo_store_up 0\n") && metrics.contains("cameo_web_requests_total"))
            let ready = try await get("health/ready")
            #expect(ready.contains(#""status":"failing""#) && !ready.contains(#""store":"ok""#), "\(ready)")
        }

        @Test func whatAFleetHasNotOrHasElsewhereIsRefusedByName() async throws {
            let fleet = try await Fleet()
            #expect(try await fleet.command("cameo-enqueue initials:JD").exitStatus == 0)
            let elsewhere = try await fleet.command(
                "cameo-status",
                environment: ["CAMEO_BLOBS": "s3://cameo/elsewhere?endpoint=http://127.0.0.1:9"]
            )
            #expect(elsewhere.exitStatus == 4)
            #expect(elsewhere.errorText.contains("s3://cameo/pictures"), "\(elsewhere.errorText)")
            for (command, advice) in [("vacuum", "autovacuum"), ("backup", "pg_dump")] {
                let refused = try await fleet.command(
                    "cameo-admin \(command) \(command == "backup" ? "copy" : "--json")"
                )
                #expect(refused.exitStatus == 2)
                #expect(refused.errorText.contains(advice), "\(refused.errorText)")
            }
            let unreachable = try await fleet.command(
                "cameo-status",
                environment: ["CAMEO_STORE": "postgres://me:secret@127.0.0.1:9/none"]
            )
            #expect(unreachable.exitStatus == 4)
            #expect(unreachable.errorText.contains("127.0.0.1") && !unreachable.errorText.contains("secret"))
            let folder = try await fleet.command("cameo-status", environment: ["CAMEO_STORE": "folder"])
            #expect(folder.exitStatus == 4)
            #expect(folder.errorText.contains("a store in a folder keeps its own bytes"))
        }

        /// Producers use SQL; workers die three at a time, and the server crashes once.
        @Test func killsOfWorkersAndServerLoseNothingAndDoubleNothing() async throws {
            let (fleet, count) = (try await Fleet(), TestLength.rounds(60, full: 240))
            for index in 0..<count { try fleet.deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            #expect(try await fleet.command("cameo-enqueue initials:JD").exitStatus == 0)
            for round in 0..<3 {
                let workers = try await fleet.startWorkers(3)
                let earlier = try await fleet.number("SELECT count(*) FROM outcome")
                _ = try await fleet.sql(
                    """
                    INSERT INTO job(request)
                    SELECT ('{"source": "file://\(fleet.deployment.pictures)/p' || n || '.jpg", "renditions": [{"width": 64}]}')::json
                    FROM generate_series(\(round * count / 3), \((round + 1) * count / 3 - 1)) AS n
                    """
                )
                try await eventually("some jobs have ended") {
                    try await fleet.number("SELECT count(*) FROM outcome") >= earlier + count / 12
                }
                if round == 1 {
                    try await fleet.database.stop(.immediate)
                    try await fleet.database.start()
                }
                for worker in workers {
                    #expect(await worker.stop(SIGKILL) == .signalled(SIGKILL))
                }
            }
            #expect(try await fleet.number("SELECT count(*) FROM outcome") <= count, "nothing was left to recover")
            // Waits for the leases of the dead.
            let drain = "cameo-worker --drain --allow-root \(fleet.deployment.pictures) --log-level error"
            try await fleet.command(drain).succeeded()
            #expect(try await fleet.number("SELECT count(*) FROM job_status WHERE state = 'completed'") == count + 1)
            #expect(try await fleet.number("SELECT count(*) FROM outcome") == count + 1)
            #expect(try await fleet.number("SELECT count(*) FROM attempt WHERE outcome = 'completed'") == count + 1)
            #expect(try await fleet.number("SELECT count(*) FROM thumbnail") == count + 1)
            #expect(try await fleet.number("SELECT count(*) FROM task") == 0)
            // A death is not charged.
            #expect(try await fleet.number("SELECT max(attempt) FROM outcome") == 1)
        }
    }
}
