import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Failing writes and syncs, full and read-only disks, and power failures: acknowledged data survives.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct FaultyDiskTests {
        @Test(
            arguments: TestLength.few(
                [
                    "write EIO -wal", "sync EIO -wal", "write ENOSPC -wal", "write SHORT -wal",
                    "write EIO /blobs/", "sync EIO /blobs/", "write ENOSPC /blobs/", "write SHORT /blobs/",
                ],
                2,
                whole: 3
            )
        )
        func aDiskThatFailsNowAndThenCostsNoJob(rule: String) async throws {
            let deployment = try Deployment()
            let disk = try await FaultyDisk(in: deployment)
            let store: any Store = try SQLiteStore(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(30, in: store)
            let worker = try await deployment.startFrozenWorker("--retry base=0", environment: disk.environment)
            try disk.fail(rule, after: 4, count: 4)
            worker.send(SIGCONT)
            try await deployment.expectCompletedOnce(receipts)
            #expect(disk.failures == 4)
            #expect(await worker.stop() == .exited(0))
            #expect(!String(decoding: worker.standardError, as: UTF8.self).contains("locked"))
        }

        /// No row refers to bytes that could not be synced, however often that is retried.
        @Test func aBlobThatCannotBeSyncedIsNeverNamed() async throws {
            let deployment = try Deployment()
            let disk = try await FaultyDisk(in: deployment)
            let store: any Store = try SQLiteStore(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(1, in: store)
            try disk.fail("sync EIO /blobs/", count: 1_000_000)
            let worker = try deployment.startWorker(environment: disk.environment)
            try await disk.waitForFailures(4)
            #expect(try await store.job(receipts[0].jobID).state == .running)
            #expect(try await deployment.sql("SELECT count(*) FROM blob;") == "0")
            try disk.heal()
            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            #expect(try await deployment.orphanedFiles().unfinished.isEmpty)
            #expect(await worker.stop() == .exited(0))
        }

        /// Everything stops at once; a copy without unsynced data has everything that was acknowledged.
        @Test(.enabled(if: TestLength.isWhole, "--all")) func aPowerCutTakesNothingThatWasAcknowledged() async throws {
            let deployment = try Deployment()
            let disk = try await FaultyDisk(in: deployment)
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            _ = try SQLiteStore(at: deployment.store)
            let script = """
                for index in $(seq 1000); do
                    "$0" pictures/photo.jpg --size $((420 + index % 100))x$((900 + 10 * $1 + index / 100)):png || exit
                done
                """
            let enqueue = try Deployment.executable("cameo-enqueue")
            let environment = disk.environment.merging(["CAMEO_STORE": deployment.store]) { $1 }
            let producers = try (0..<4).map { producer in
                try ChildProcess(
                    "/bin/sh",
                    ["-c", script, enqueue, "\(producer)"],
                    environment: environment,
                    currentDirectory: deployment.folder.url
                )
            }
            let worker = try deployment.startWorker(environment: disk.environment)
            for cut in 1...TestLength.rounds(3, full: 8) {
                try await deployment.waitUntil { store in
                    let status = try await store.status()
                    return status.count(.completed) >= cut * 4 && status.jobs.values.reduce(0, +) >= cut * 20
                }
                // The test needs a random moment, which nothing signals.
                try await Task.sleep(for: .milliseconds(.random(in: 0...30)))
                let copy = deployment.folder.path("copy-\(cut)")
                let acknowledged = try await stop(producers, and: worker) {
                    try disk.copyAfterPowerCut(of: deployment.store, to: copy)
                }
                try await expect(acknowledged, in: copy, of: deployment)
            }
            for producer in producers { producer.killGroup() }
            worker.killGroup()
        }

        /// A control: without it, the test above could pass because nothing is ever lost.
        @Test func aPowerCutTakesWhatWasNotSynced() async throws {
            let deployment = try Deployment()
            let disk = try await FaultyDisk(in: deployment)
            _ = try SQLiteStore(at: deployment.store)
            let insert = #"INSERT INTO job(request) VALUES ('{"source":"data:,","renditions":[{"width":9}]}');"#
            let script = """
                .timeout 120000
                PRAGMA wal_autocheckpoint=0;
                PRAGMA synchronous=FULL;
                \(insert)
                PRAGMA synchronous=OFF;
                \(insert)
                .shell kill -STOP $PPID
                """
            let writer = try ChildProcess(
                "sqlite3",
                ["\(deployment.store)/cameo.sqlite"],
                input: Data(script.utf8),
                environment: disk.environment
            )
            defer { writer.killGroup() }
            try await writer.hasStopped()
            #expect(try await deployment.sql("SELECT count(*) FROM job;") == "2")
            let copy = deployment.folder.path("copy")
            try disk.copyAfterPowerCut(of: deployment.store, to: copy)
            let left = try await run("sqlite3", ["\(copy)/cameo.sqlite", "SELECT count(*) FROM job;"])
            #expect(left.outputText == "1\n", "\(left.errorText)")
            writer.killGroup()
        }

        /// The ids that the producers had printed when everything stopped.
        private func stop(
            _ producers: [ChildProcess],
            and worker: ChildProcess,
            _ body: () throws -> Void
        ) async throws -> Set<String> {
            let all = producers + [worker]
            defer { for process in all { process.sendGroup(SIGCONT) } }
            for process in all { process.sendGroup(SIGSTOP) }
            for process in all { try await process.commandsHaveStopped() }
            try body()
            let lines = producers.flatMap { String(decoding: $0.standardOutput, as: UTF8.self).split(separator: "\n") }
            return Set(lines.compactMap { $0.split(separator: "\t").first.map(String.init) })
        }

        private func expect(_ acknowledged: Set<String>, in copy: String, of deployment: Deployment) async throws {
            #expect(acknowledged.count > 10)
            let check = try await deployment.command("cameo-admin", ["check", "--store", copy])
            #expect(check.exitStatus == 0, "\(check.outputText)\(check.errorText)")
            let store: any Store = try SQLiteStore(reading: copy)
            var missing: [String] = []
            for id in acknowledged {
                if (try? await store.job(try #require(Int64(id)))) == nil { missing.append(id) }
            }
            #expect(missing.isEmpty, "of \(acknowledged.count)")
        }
    }
}
