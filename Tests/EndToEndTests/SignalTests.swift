import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Signals as from a terminal or a supervisor: to the worker's whole process group.
    @Suite(.timeLimit(.minutes(10)))
    struct SignalTests {
        /// A picture that its renderer never finishes; debug builds only.
        private func workOnAHang(_ arguments: String...) async throws -> (Deployment, ChildProcess, job: Int64) {
            let deployment = try Deployment(renderer: "cameo-renderer-hooked")
            let source = "\(deployment.pictures)/hang.jpg"
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: source))
            let job = try #require(try await deployment.enqueue(source).first).jobID
            let worker = try deployment.startWorker(["--render-timeout", "1h"] + arguments, environment: [:])
            try await deployment.waitUntil { try await $0.job(job).state == .running }
            return (deployment, worker, job)
        }

        /// Sends it repeatedly, as slowly as a person does, until the worker has ended.
        private func press(_ signal: Int32, _ worker: ChildProcess) async throws -> ChildProcess.Ending {
            let presses = Task {
                while true {
                    worker.sendGroup(signal)
                    try await Task.sleep(for: .milliseconds(400))
                }
            }
            defer { presses.cancel() }
            return await worker.ending
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func theSecondStopGivesBackWhatRendersAndChargesNobody(signal: Int32) async throws {
            let (deployment, worker, job) = try await workOnAHang("--grace", "1h")
            defer { worker.killGroup() }
            #expect(try await press(signal, worker) == .exited(0))
            let after = try await deployment.job(job)
            #expect((after.state, after.attempt, after.crashCount) == (.available, 0, 0))
            #expect(after.attempts?.map(\.outcome) == [.released])
            let log = String(decoding: worker.standardError, as: UTF8.self)
            #expect(log.contains("finishing running jobs") && log.contains("returning running jobs"), "\(log)")
        }

        @Test func oneStopLetsWhatRunsFinishHoweverManyProcessesItReaches() async throws {
            let deployment = try await Deployment.withPhoto()
            let origin = try await Origin.start(serving: deployment.pictures)
            let url = origin.url("/held?file=photo.jpg")
            let job = try #require(try await deployment.enqueue(url).first).jobID
            let worker = try deployment.startWorker("--allow-network 127.0.0.0/8 --grace 1h")
            defer { worker.killGroup() }
            try await origin.awaitArrivals(of: "/held")
            // To the worker, and at once to its group, as timeout(1) does.
            worker.send(SIGTERM)
            worker.sendGroup(SIGTERM)
            try await eventually("the worker finishes") {
                String(decoding: worker.standardError, as: UTF8.self).contains("finishing running jobs")
            }
            try await origin.release()
            #expect(await worker.ending == .exited(0))
            #expect(try await deployment.job(job).attempts?.map(\.outcome) == [.completed])
        }

        @Test func hangingUpReadsTheSettingsAgainAndEndsNothing() async throws {
            let deployment = try Deployment()
            let photo = try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            let settings = try deployment.folder.write(Data("CAMEO_ALLOW_ROOT=/usr/share\n".utf8), to: "settings")
            let job = try await deployment.enqueue(photo)[0].jobID
            let worker = try ChildProcess(
                try Deployment.executable("cameo-worker"),
                ["--settings", settings],
                environment: ["CAMEO_STORE": deployment.store, "CAMEO_LOG_LEVEL": "error"],
                currentDirectory: deployment.folder.url
            )
            defer { worker.killGroup() }
            func awaitLog(_ words: String) async throws {
                try await eventually("the worker says \(words)") {
                    String(decoding: worker.standardError, as: UTF8.self).contains(words)
                }
            }
            try await deployment.waitUntil { try await $0.job(job).failure?.code == .sourceForbidden }
            let allowed = "# Now\nCAMEO_ALLOW_ROOT=\"\(deployment.pictures)\"\nCAMEO_LOG_LEVEL=info\n"
            try Data(allowed.utf8).write(to: URL(filePath: settings))
            worker.sendGroup(SIGHUP)
            try await awaitLog("reloaded")
            _ = try await deployment.command("cameo-admin retry \(job)")
            try await deployment.waitUntil { try await $0.job(job).state == .completed }
            try await awaitLog("completed")
            for (wrong, words) in [("nonsense", "line 1 is not NAME=value"), ("CAMEO_ALLOW_ROOT=/nowhere", "/nowhere")]
            {
                try Data(wrong.utf8).write(to: URL(filePath: settings))
                worker.send(SIGHUP)
                try await awaitLog(words)
            }
            let next = try await deployment.enqueue(photo, "--size", "20x")[0].jobID
            try await deployment.waitUntil { try await $0.job(next).state == .completed }
            #expect(await worker.stop() == .exited(0))
        }

        @Test func settingsThatAreTypedMustBeThere() async throws {
            let deployment = try Deployment()
            let typed = try await deployment.command("cameo-worker --drain --settings /nowhere")
            #expect(typed.exitStatus == 2)
            #expect(typed.errorText.contains("--settings /nowhere: there is no such file"), "\(typed.errorText)")
            try await deployment.command(
                "cameo-worker --drain",
                environment: ["CAMEO_SETTINGS": "/nowhere"]
            ).succeeded()
        }

        /// As the first process of a container without an init of its own, where the kernel spares it most signals.
        @Test(
            .enabled(if: MountNamespace.isAvailable, "needs unshare(1)"),
            arguments: [SIGINT, SIGTERM],
            [
                ["cameo-enqueue", "initials:AB", "--wait"], ["cameo-status", "--watch"],
                ["cameo-status", "events", "--follow"],
            ]
        )
        func aContainersFirstProcessEndsAtBothSignals(signal: Int32, words: [String]) async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:CD")
            let ids = getuid() == 0 ? [] : ["--map-root-user"]
            let container = try ChildProcess(
                "/usr/bin/unshare",
                ids + ["--pid", "--fork", try Deployment.executable(words[0])] + words.dropFirst(),
                environment: ["CAMEO_STORE": deployment.store]
            )
            defer { container.killGroup() }
            let children = "/proc/\(container.processID)/task/\(container.processID)/children"
            // It is the program from the moment on in which it has opened the store.
            let store = URL(filePath: deployment.store).appending(path: "cameo.sqlite").path
            var first: pid_t = 0
            try await eventually("it runs") {
                first =
                    (try? String(contentsOfFile: children, encoding: .utf8)).flatMap {
                        pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines))
                    } ?? 0
                let folder = "/proc/\(first)/fd"
                let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                return files.contains {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == store
                }
            }
            kill(first, signal)
            #expect(await container.ending == .exited(128 + signal))
        }

        /// A supervisor that closes what it does not use.
        @Test func closedStandardFilesCostNothing() async throws {
            let deployment = try Deployment()
            for (name, words) in [
                ("cameo-enqueue", ["initials:AB"]), ("cameo-worker", ["--drain"]), ("cameo-status", []),
            ] {
                let script = "exec \"$0\" \"$@\" <&- >&- 2>&-"
                let result = try await run(
                    "/bin/sh",
                    ["-c", script, try Deployment.executable(name)] + words,
                    environment: ["CAMEO_STORE": deployment.store]
                )
                #expect(result.exitStatus == 0, "\(name)")
            }
            #expect(try await deployment.job(1).state == .completed)
        }

        /// The log is a pipe that is full: nothing waits for it, neither work nor the end.
        @Test func aLogThatNobodyReadsStopsNothing() async throws {
            let deployment = try Deployment()
            let missing = (1...300).map { "\(deployment.pictures)/none\($0).jpg" }
            _ = try await deployment.enqueue(missing + ["initials:AB", "--max-attempts", "1"])
            let script = "mkfifo log && exec \"$0\" \"$@\" 3<>log 2>log"
            let worker = try ChildProcess(
                "/bin/sh",
                ["-c", script, try Deployment.executable("cameo-worker"), "--log-level", "trace", "--allow-root", "/"],
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            )
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.status().count(.discarded) == 300 }
            try await deployment.waitUntil { try await $0.status().count(.completed) == 1 }
            #expect(await worker.stop() == .exited(0))
            #expect(try await deployment.job(301).state == .completed)
        }

        /// A result that the disk cannot store is not the job's fault.
        @Test(.enabled(if: MountNamespace.isAvailable, "needs unshare(1) with mounts"))
        func aStopOnAFullDiskChargesNobody() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("png"), as: "photo.png")
            try FileManager.default.createDirectory(atPath: deployment.store, withIntermediateDirectories: true)
            let result = try await MountNamespace.run(
                """
                mount -t tmpfs -o size=8m,mode=0700 tmpfs "$CAMEO_STORE"
                "$BIN/cameo-enqueue" pictures/photo.png --size 900x:png > /dev/null
                head -c 4m /dev/zero > "$CAMEO_STORE/ballast"
                "$BIN/cameo-worker" --allow-root pictures 2> worker.log & worker=$!
                until grep -q "waits for the store" worker.log; do sleep 0.1; done
                kill $worker; wait $worker; echo "worker $?"
                rm "$CAMEO_STORE/ballast"
                "$BIN/cameo-status" job 1 --json
                """,
                deployment
            )
            let lines = result.outputText.split(separator: "\n")
            try #require(lines.count == 2 && lines[0] == "worker 0", "\(result.outputText)\(result.errorText)")
            let job = try WireFormat.decode(Job.self, from: Data(lines[1].utf8))
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 0))
        }
    }
}
