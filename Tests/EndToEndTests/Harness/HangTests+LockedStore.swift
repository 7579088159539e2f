import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

// Results that wait because another program holds the write lock for too long.
extension EndToEnd.HangTests {
    private static let impatience: [String: String?] = ["CAMEO_TEST_PATIENCE_MS": "200"]

    /// Another program that holds SQLite's write lock until it ends.
    private func startLockHolder(_ deployment: Deployment) async throws -> ChildProcess {
        let script = """
            import signal, sqlite3, sys
            store = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
            store.execute("PRAGMA wal_autocheckpoint = 0")
            store.execute("BEGIN IMMEDIATE")
            print("holds it", flush=True)
            signal.pause()
            """
        let holder = try ChildProcess("/usr/bin/python3", ["-c", script, "\(deployment.store)/cameo.sqlite"])
        do {
            try await eventually("the lock is held") { !holder.standardOutput.isEmpty }
        } catch {
            holder.killGroup()
            throw error
        }
        return holder
    }

    @Test func aResultOutlastsAStoreThatAnotherProgramHoldsLockedForTooLong() async throws {
        let (deployment, store, receipts, worker) = try await startSleeper(Self.impatience)
        defer { worker.killGroup() }
        let holder = try await startLockHolder(deployment)
        defer { holder.killGroup() }
        worker.send(SIGCONT)
        try await worker.hasSaid(Self.waiting)
        #expect(String(decoding: worker.standardError, as: UTF8.self).contains("held the write lock"))
        let job = try await store.job(receipts[0].jobID)
        #expect((job.state, job.attempt) == (.running, 1))
        holder.killGroup()
        try await deployment.expectCompletedOnce(receipts)
        try await deployment.expectUncharged(receipts)
        #expect(try await store.job(job.id).attempts?.map(\.outcome) == [.completed])
        #expect(await worker.stop() == .exited(0))
    }

    /// It cannot return its job, and need not: whoever has the store open takes it.
    @Test func theSecondStopEndsAWorkerOfALockedStore() async throws {
        let (deployment, store, receipts, worker) = try await startSleeper()
        defer { worker.killGroup() }
        let holder = try await startLockHolder(deployment)
        defer { holder.killGroup() }
        worker.send(SIGCONT)
        let presses = Task {
            while true {
                worker.send(SIGTERM)
                try await Task.sleep(for: .milliseconds(400))
            }
        }
        defer { presses.cancel() }
        #expect(await worker.ending == .exited(128 + SIGTERM))
        holder.killGroup()
        let heir = try deployment.startWorker(environment: Self.shortLease)
        defer { heir.killGroup() }
        try await deployment.expectCompletedOnce(receipts)
        try await deployment.expectUncharged(receipts)
        #expect(try await store.job(receipts[0].jobID).state == .completed)
    }

    @Test func aResultThatWaitsForALockedStoreIsDroppedWhenTheLeaseIsLostMeanwhile() async throws {
        let (deployment, store, receipts, sleeper) = try await startSleeper(
            Self.shortLease.merging(Self.impatience) { $1 }
        )
        defer { sleeper.killGroup() }
        let holder = try await startLockHolder(deployment)
        defer { holder.killGroup() }
        sleeper.send(SIGCONT)
        try await sleeper.hasSaid(Self.waiting)
        // It must lose its lease, whoever gets the lock first.
        sleeper.send(SIGSTOP)
        try await sleeper.hasStopped()
        holder.killGroup()
        let heir = try deployment.startWorker(environment: Self.shortLease)
        defer { heir.killGroup() }
        try await deployment.expectCompletedOnce(receipts)
        try await deployment.expectUncharged(receipts)
        #expect(
            try await store.job(receipts[0].jobID).attempts?.map(\.outcome) == [.interrupted, .completed]
        )
        let before = try await everything(deployment)
        sleeper.send(SIGCONT)
        try await expectRefusal(of: receipts[0], to: sleeper)
        #expect(try await everything(deployment) == before)
        for worker in [sleeper, heir] {
            #expect(await worker.stop() == .exited(0))
        }
    }
}
