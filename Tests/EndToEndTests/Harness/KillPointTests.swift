import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Workers that die by SIGKILL at each moment that has a name, in the middle of forty jobs.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct KillPointTests {
        /// Passages of the point before the last.
        private static let survived = 6

        @Test(arguments: KillPoint.allCases, [1, 8])
        func aDeathThereLosesNothingDoublesNothingAndChargesNobody(point: KillPoint, concurrency: Int) async throws {
            let deployment = try Deployment()
            let heir = try await deployment.startFrozenWorker("--log-level", "error")
            let store = try Store(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(40, in: store)
            // A drain ends even if it never comes by the point, with 0.
            let doomed = try deployment.startWorker(
                "--drain",
                "--concurrency",
                "\(concurrency)",
                "--log-level",
                "error",
                environment: ["CAMEO_TEST_KILL_POINT": "\(point.rawValue):\(Self.survived + 1)"]
            )
            #expect(
                await doomed.ending == .signalled(SIGKILL),
                "\(String(decoding: doomed.standardError, as: UTF8.self))"
            )
            let death = Date()
            let left = try await deployment.unnamedFiles()
            let completed = try await store.status().count(.completed)
            heir.send(SIGCONT)
            let freed = Date()

            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            heir.send(SIGTERM)
            #expect(await heir.ending == .exited(0))
            try await expectRecovery(deployment, from: death, delayedBy: freed.timeIntervalSince(death))
            try await expectDeathsCounted(deployment)
            if concurrency == 1 {
                expectState(at: point, left.whole.count, left.unfinished.count, completed)
            } else {
                #expect(completed < 40, "all was done before the death: nothing was tested")
            }
            // Whatever stood unnamed was made again, byte for byte.
            #expect(try await deployment.unnamedFiles().whole.isEmpty)
        }

        /// One job at a time leaves exactly one trace of where its worker died.
        private func expectState(at point: KillPoint, _ unnamed: Int, _ unfinished: Int, _ completed: Int) {
            #expect(completed == Self.survived + (point == .afterCommit ? 1 : 0))
            #expect(unnamed == (point == .afterBlobSync || point == .insideTransaction ? 1 : 0))
            #expect(unfinished == 0)
        }

        /// By the death itself, not by the lease that runs out; how soon is `deploy/soak`'s to measure. The heir stood frozen
        /// until its predecessor's traces were counted; that time is not the store's.
        private func expectRecovery(_ deployment: Deployment, from death: Date, delayedBy delay: Double) async throws {
            let claimed = try await deployment.sql(
                "SELECT min(started_at) FROM attempt WHERE worker = (SELECT worker FROM attempt ORDER BY started_at DESC LIMIT 1);"
            )
            let seconds = try #require(Double(claimed)) / 1_000 - death.timeIntervalSince1970 - delay
            // A lease is extended after a third of its time.
            let lease = Double(Store.leaseMilliseconds) / 1_000
            #expect(seconds < lease / 3, "the next claim came \(seconds) s after the death")
        }

        private func expectDeathsCounted(_ deployment: Deployment) async throws {
            let counts = try await deployment.sql(
                """
                SELECT (SELECT sum(crash_count) FROM job), (SELECT max(crash_count) FROM job) <= 1,
                  (SELECT count(*) FROM attempt WHERE outcome = 'interrupted');
                """
            ).split(separator: "|")
            #expect(counts.count == 3 && counts[0] == counts[2] && counts[1] == "1", "\(counts)")
        }
    }
}
