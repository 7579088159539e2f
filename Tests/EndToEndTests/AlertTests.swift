import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Every rule of `deploy/monitoring` fires in a real Prometheus, by what it is there for.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: MountNamespace.isAvailable, "needs unshare(1) with mounts"),
        .enabled(if: Deployment.hasWeb, "--all")
    )
    struct AlertTests {
        struct Case: CustomTestStringConvertible, Sendable {
            let alert: String
            /// What is there before, as a script.
            var before = ""
            let cause: String
            /// What Prometheus then has: the part of the rule that it fires by.
            let evidence: String

            var testDescription: String { "\(alert): \(cause)" }
        }

        private static let worker = #""$BIN/cameo-worker" --allow-root "$PWD" --retry base=0.05"#
        private static let web = #"""
            "$BIN/cameo-web" --listen 127.0.0.1:0 > web & web=$!
            until [ -s web ]; do sleep 0.1; done
            """#

        /// Leaves so many MiB of the store's disk.
        private static func fill(leaving: Int) -> String {
            """
            free=$(df --output=avail -B1 "$CAMEO_STORE" | tail -n 1)
            head -c $((free - \(leaving * 1_048_576))) /dev/zero > "$CAMEO_STORE/ballast"
            """
        }

        /// A thumbnail of more than 2 MiB.
        private static let large = #""$BIN/cameo-enqueue" noise.jpg --size 1600x:png"#

        static let cases = [
            Case(
                alert: "CameoNoWorker",
                before: "\(worker) & worker=$!",
                cause: "kill -KILL $worker",
                evidence: "cameo_workers == 0"
            ),
            Case(
                alert: "CameoJobsWait",
                cause: #""$BIN/cameo-enqueue" initials:B"#,
                evidence: "cameo_jobs{state='available'} > 0"
            ),
            Case(
                alert: "CameoQueuePaused",
                cause: #""$BIN/cameo-admin" pause default"#,
                evidence: "cameo_queue_paused == 1"
            ),
            Case(
                alert: "CameoManyDiscarded",
                before: #""$BIN/cameo-enqueue" --allow-missing none.jpg"#,
                cause: "\(worker) --drain || true",
                evidence: "cameo_failures_total{code='source.notFound'} > 0"
            ),
            Case(
                alert: "CameoStoreFails",
                before: "\(large) --max-attempts 1",
                cause: "\(fill(leaving: 6)); \(worker) --drain || true",
                evidence: "increase(cameo_failures_total{code='store.full'}[1h]) > 0"
            ),
            Case(
                alert: "CameoStoreFails",
                before: "export CAMEO_TEST_LEASE_MS=3000; \(worker) &",
                cause: "\(fill(leaving: 6)); \(large)",
                evidence: "cameo_workers_hindered > 0"
            ),
            Case(
                alert: "CameoStoreFails",
                cause: #"head -c 99m /dev/zero > "$CAMEO_STORE/ballast" || true"#,
                evidence: "cameo_store_free_bytes < 4194304"
            ),
            Case(
                alert: "CameoKeepsExpired",
                before: "export CAMEO_TEST_LEASE_MS=3000",
                cause: """
                    sqlite3 "$CAMEO_STORE/cameo.sqlite" \
                      "CREATE TRIGGER kept BEFORE DELETE ON job BEGIN SELECT RAISE(ABORT, 'kept'); END"
                    \(worker) --keep completed=0s &
                    """,
                evidence: "cameo_workers_not_removing > 0"
            ),
            Case(
                alert: "CameoHooksFail",
                before: #"""
                    echo '{"hooks": {"site": {"command": ["/bin/false"], "maxAge": 1, "retry": {"base": 0.1}}}}' > hooks.json
                    \#(worker) --hooks hooks.json &
                    """#,
                cause: #""$BIN/cameo-enqueue" initials:B --hook site"#,
                evidence: "cameo_hook_deliveries_failed{hook='site'} == 1"
            ),
            Case(
                alert: "CameoTableNotFollowed",
                before: #"""
                    "$BIN/cameo-enqueue" initials:A
                    sqlite3 -bail "$CAMEO_STORE/cameo.sqlite" 'PRAGMA wal_autocheckpoint=0; CREATE TABLE app_users(id INTEGER PRIMARY KEY, picture)'
                    "$BIN/cameo-admin" attach app_users.picture --key id --as url --preset avatar
                    sqlite3 -bail "$CAMEO_STORE/cameo.sqlite" 'PRAGMA wal_autocheckpoint=0; DROP TRIGGER app_cameo_users_picture_updated'
                    """#,
                cause: "\(worker) &",
                evidence: "cameo_attachments_not_followed{attachment='users.picture'} == 1"
            ),
            Case(
                alert: "CameoRenderersCrash",
                before: #"for n in 1 2 3 4 5 6; do echo CAMEO-TEST-CRASH > $n.jpg; "$BIN/cameo-enqueue" $n.jpg; done"#,
                cause: "\(worker) --drain || true",
                evidence: "cameo_renderers_ended_total{reason='crashed'} > 5"
            ),
            Case(
                alert: "CameoWorkersDie",
                before: #""$BIN/cameo-enqueue" initials:B"#,
                cause: """
                    for n in 1 2 3 4 5 6; do CAMEO_TEST_KILL_POINT=after-claim:1 \(worker) || true; done
                    \(worker) --drain || true
                    """,
                evidence: "cameo_failures_total{code='worker.lost'} > 0"
            ),
            Case(
                alert: "CameoRendersSlowly",
                cause: #""$BIN/cameo-enqueue" noise.jpg; \#(worker) --drain"#,
                evidence: "cameo_stage_duration_seconds_count{stage='render'} > 1"
            ),
            Case(
                alert: "CameoNotMeasured",
                before: "\(worker) &",
                cause: "touch unwritten",
                evidence: "cameo_workers{state='alive'} == 1"
            ),
            Case(
                alert: "CameoNotMeasured",
                cause: "touch unwritten; wait $measuring; rm -f metrics/*",
                evidence: "absent(cameo_build_info)"
            ),
            // Beside another source of metrics, which is well.
            Case(
                alert: "CameoNotMeasured",
                before: web,
                cause: "kill $web",
                evidence: "ALERTS{alertname='CameoNotMeasured',job='cameo'} and on() up{job='cameo'} == 0"
            ),
            Case(
                alert: "CameoNotMeasured",
                before: web,
                cause: #"sqlite3 "$CAMEO_STORE/cameo.sqlite" 'ALTER TABLE worker RENAME TO gone'"#,
                evidence: "ALERTS{alertname='CameoNotMeasured',job='cameo'} and on() cameo_store_up == 0"
            ),
        ]

        private static func rules() throws -> String {
            try String(contentsOf: Repository.file("deploy/monitoring/cameo.rules.yml"), encoding: .utf8)
        }

        /// The rules without their patience: what they wait for is there at once, or after seconds.
        private static func hastyRules() throws -> String {
            let rules = try rules().replacing(#/\n +for: \w+/#, with: "")
            let hasty = rules.replacing(" > 300", with: " > 5").replacing("[15m]))) > 10\n", with: "[15m]))) > 0.001\n")
            #expect(hasty.matches(of: #/ > 5\b/#).count == 3 && hasty.contains("> 0.001"))
            return hasty
        }

        @Test(arguments: cases) func aRuleFiresByItsCause(_ each: Case) async throws {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            let folder = deployment.folder
            for name in ["store", "metrics"] {
                try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            }
            try await run(
                "vips",
                ["gaussnoise", folder.path("noise.jpg"), "1600", "1600", "--sigma", "90"]
            ).succeeded()
            let text = """
                trap 'echo $? > ended' EXIT
                mount -t tmpfs -o size=32m,mode=0700 tmpfs "$CAMEO_STORE"
                "$BIN/cameo-enqueue" initials:A --size 16x16
                \(Self.worker) --drain
                \(each.before)
                measure() { "$BIN/cameo-status" metrics --output metrics/cameo.prom; }
                measure
                while [ ! -e unwritten ]; do measure || true; sleep 0.3; done &
                measuring=$!
                touch ready
                until [ -e go ]; do sleep 0.1; done
                \(each.cause)
                sleep infinity
                """
            let bin = URL(filePath: try Deployment.executable("cameo-status")).deletingLastPathComponent().path
            let script = try ChildProcess(
                "/usr/bin/env",
                MountNamespace.command + ["sh", "-euc", text],
                environment: [
                    "CAMEO_STORE": deployment.store, "BIN": bin, "CAMEO_RENDERER": "\(bin)/cameo-renderer-hooked",
                ],
                currentDirectory: folder.url
            )
            defer { script.killGroup() }
            func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.path(name)) }
            func isStill() throws {
                guard exists("ended") else { return }
                throw NeverHappened(String(decoding: script.standardError + script.standardOutput, as: UTF8.self))
            }
            try await eventually("everything is there") {
                try isStill()
                return exists("ready")
            }
            let server = try? String(contentsOfFile: folder.path("web"), encoding: .utf8)
            let prometheus = try await Prometheus(
                rules: try Self.hastyRules(),
                server: server?.firstMatch(of: #/http:\/\/([^\/]+)/#).map { String($0.output.1) },
                files: folder.path("metrics"),
                in: folder
            )
            try await eventually("there are metrics, and no alert") {
                try isStill()
                guard try await prometheus.has("count_over_time(cameo_build_info[1h]) > 1") else { return false }
                return try await prometheus.firing()?.contains(each.alert) == false
            }
            try folder.write(Data(), to: "go")
            try await eventually("\(each.alert) fires by \(each.evidence)") {
                try isStill()
                guard try await prometheus.firing()?.contains(each.alert) == true else { return false }
                return try await prometheus.has(each.evidence)
            }
        }

        /// What would take hours: every rule waits as long as it says, and no longer.
        @Test func everyRuleKeepsItsTime() async throws {
            let file = Repository.file("Tests/EndToEndTests/Harness/alerts.yml")
            let result = try await run("promtool", ["test", "rules", file.path])
            #expect(result.exitStatus == 0, "\(result.outputText)\(result.errorText)")
            let names = Set(try Self.rules().matches(of: #/- alert: (\w+)/#).map { String($0.output.1) })
            let timed = try String(contentsOf: file, encoding: .utf8).matches(of: #/alertname="(\w+)"/#)
            #expect(names == Set(Self.cases.map(\.alert)) && names == Set(timed.map { String($0.output.1) }))
        }
    }
}
