import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Workers that are stopped from outside, through the store.
    @Suite(.timeLimit(.minutes(10)))
    struct WorkerStopTests {
        private func startedWorker(_ deployment: Deployment, _ arguments: String...) async throws -> (
            ChildProcess, String
        ) {
            let store: any Store = try SQLiteStore(at: deployment.store)
            let worker = try ChildProcess(
                try Deployment.executable("cameo-worker"),
                ["--allow-network", "127.0.0.0/8"] + arguments,
                environment: Deployment.patience.merging(["CAMEO_STORE": deployment.store]) { $1 },
                currentDirectory: deployment.folder.url
            )
            try await deployment.waitUntil { try await !$0.status().workers.isEmpty }
            return (worker, try #require(try await store.status().workers.first).id)
        }

        /// A server whose `/held` answers with a picture when it is released.
        private func origin(_ deployment: Deployment) async throws -> Origin {
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            return try await Origin.start(serving: deployment.pictures)
        }

        private func enqueueHeld(_ deployment: Deployment, _ origin: Origin, size: String) async throws -> Int64 {
            let url = origin.url("/held?file=photo.jpg")
            return try #require(try await deployment.enqueue(url, "--size", size).first).jobID
        }

        @Test(arguments: ["--drain", "--now"])
        func anIdleWorkerEndsWithinASecondAndWithZero(mode: String) async throws {
            let deployment = try Deployment()
            let (worker, id) = try await startedWorker(deployment)
            defer { worker.killGroup() }
            let list = try await deployment.command("cameo-admin", ["--store", deployment.store, "worker", "list"])
            #expect(list.outputText.hasPrefix("\(id) on "), "\(list.errorText)")
            try await deployment.command(
                "cameo-admin",
                ["worker", "stop", id, mode, "--wait", "--wait-timeout", "5m"]
            ).succeeded()
            #expect(await worker.ending == .exited(0))
            #expect(try await deployment.status().workers.isEmpty)
        }

        @Test func aMistypedIDDoesNotSpareTheWorkersBehindIt() async throws {
            let deployment = try Deployment()
            let (worker, id) = try await startedWorker(deployment)
            defer { worker.killGroup() }
            let stop = try await deployment.command("cameo-admin", ["worker", "stop", "typo", id])
            #expect(stop.exitStatus == 1)
            #expect(stop.errorText == "cameo-admin: there is no worker typo\n")
            #expect(stop.outputText.hasPrefix("worker \(id) finishes"))
            #expect(await worker.ending == .exited(0))
        }

        @Test func drainFinishesWhatRunsAndClaimsNothingMore() async throws {
            let deployment = try Deployment()
            let origin = try await origin(deployment)
            let (worker, id) = try await startedWorker(deployment, "--grace", "0", "--concurrency", "2")
            defer { worker.killGroup() }
            let running = try await enqueueHeld(deployment, origin, size: "20x")
            try await origin.awaitArrivals(of: "/held")
            #expect(try await deployment.command("cameo-admin", ["worker", "stop", id]).exitStatus == 0)
            let waiting = try await enqueueHeld(deployment, origin, size: "30x")
            try await origin.release()
            #expect(await worker.ending == .exited(0))
            #expect(try await deployment.job(running).state == .completed, "however short the grace of a shutdown is")
            #expect(try await deployment.job(waiting).state == .available)
        }

        @Test func nowGivesWhatRunsBackUncharged() async throws {
            let deployment = try Deployment()
            let origin = try await origin(deployment)
            let (worker, id) = try await startedWorker(deployment, "--grace", "600")
            defer { worker.killGroup() }
            let job = try await enqueueHeld(deployment, origin, size: "20x")
            try await origin.awaitArrivals(of: "/held")
            _ = try await deployment.command("cameo-admin", ["worker", "stop", id])
            #expect(try await deployment.status().workers.first?.stopping == .drain)
            #expect(try await deployment.command("cameo-admin worker stop --all --now").exitStatus == 0)
            #expect(await worker.ending == .exited(0))
            let after = try await deployment.job(job)
            #expect((after.state, after.attempt, after.crashCount) == (.available, 0, 0))
            #expect(after.attempts?.map(\.outcome) == [.released])
            // Because of the job's own end, not only when the worker has left.
            #expect(String(decoding: worker.standardError, as: UTF8.self).contains("released"))
        }

        @Test func aWorkerThatIsNotThereIsOne() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("a.jpg")
            let result = try await deployment.command("cameo-admin worker stop w1")
            #expect(result.exitStatus == 1 && result.errorText == "cameo-admin: there is no worker w1\n")
            #expect(try await deployment.command("cameo-admin worker stop --all").exitStatus == 0)
        }

        @Test func aWorkerThatHearsNothingIsWaitedForInVain() async throws {
            let deployment = try Deployment()
            let (worker, id) = try await startedWorker(deployment)
            defer { worker.killGroup() }
            try await deployment.freeze(worker)
            let stop = try await deployment.command(
                "cameo-admin",
                ["worker", "stop", id, "--wait", "--wait-timeout", "300ms"]
            )
            #expect(stop.exitStatus == 3, "\(stop.errorText)")
            for mode in ["--now", "--drain"] {
                let again = try await deployment.command("cameo-admin", ["worker", "stop", id, mode])
                #expect(again.outputText == "worker \(id) returns its running jobs and ends\n", "\(mode)")
            }
            #expect(await worker.stop(SIGCONT) == .exited(0))
        }

        /// A program of a newer version migrates the tables while a worker of this one runs a job.
        @Test(arguments: [("600", JobState.completed), ("0", .available)])
        func underANewerSchemaAWorkerEndsByNameAndLosesNothing(grace: String, ends: JobState) async throws {
            let deployment = try Deployment()
            let origin = try await origin(deployment)
            let (worker, _) = try await startedWorker(deployment, "--grace", grace)
            defer { worker.killGroup() }
            let own = try await deployment.sql("PRAGMA user_version;")
            let running = try await enqueueHeld(deployment, origin, size: "20x")
            try await origin.awaitArrivals(of: "/held")
            // The SQL contract is the newer version's too.
            let request = #"{"source":"initials:AB","renditions":[{"width":16}]}"#
            let waiting = try await deployment.sql(
                "PRAGMA user_version=99; INSERT INTO job(request) VALUES ('\(request)'); SELECT last_insert_rowid();"
            )
            if ends == .completed { try await origin.release() }
            #expect(await worker.ending == .exited(4))
            let words = String(decoding: worker.standardError, as: UTF8.self)
            #expect(words.contains("has schema version 99, made by a newer Cameo; this one knows up to \(own)"))
            // As the newer version would see it.
            _ = try await deployment.sql("PRAGMA user_version=\(own);")
            let job = try await deployment.job(running)
            #expect((job.state, job.crashCount) == (ends, 0))
            #expect(try await deployment.job(try #require(Int64(waiting))).state == .available)
            #expect(try await deployment.status().workers.isEmpty)
        }

        /// `cameo-admin worker stop` of the newer version, which migrates the tables as it opens the store.
        @Test func aWorkerThatIsToldToEndUnderANewerSchemaHasEndedWell() async throws {
            let deployment = try Deployment()
            let (worker, _) = try await startedWorker(deployment)
            defer { worker.killGroup() }
            _ = try await deployment.sql(
                """
                BEGIN IMMEDIATE; PRAGMA user_version=99;
                UPDATE worker SET stop_requested_at = 1, stop_mode = 'drain'; COMMIT;
                """
            )
            #expect(await worker.ending == .exited(0))
        }

        @Test func anIdleWorkerSeesTheNewerSchemaToo() async throws {
            let deployment = try Deployment()
            let (worker, _) = try await startedWorker(deployment)
            defer { worker.killGroup() }
            _ = try await deployment.sql("PRAGMA user_version=99;")
            #expect(await worker.ending == .exited(4))
            // It is refused when its supervisor starts it again.
            let again = try await deployment.command("cameo-worker")
            #expect(again.exitStatus == 4 && again.errorText.contains("made by a newer Cameo"), "\(again.errorText)")
        }
    }
}
