import CameoModel
import CameoSQLite
import CameoStore
import CameoSystem
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Workers killed by SIGKILL at each named kill point, in the middle of forty jobs.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct KillPointTests {
        /// The number of times that the worker passes the point before it dies there.
        private static let survived = 6
        /// Lease expiry is disabled: jobs must be freed by the death itself, or this test does not end.
        private static let longLease: [String: String?] = ["CAMEO_TEST_LEASE_MS": "3600000"]

        @Test(arguments: TestLength.few(KillPoint.allCases, 3), TestLength.few([1, 8], 1, whole: 1))
        func aDeathThereLosesNothingDoublesNothingAndChargesNobody(point: KillPoint, concurrency: Int) async throws {
            let deployment = try Deployment()
            let heir = try await deployment.startFrozenWorker("--log-level error", environment: Self.longLease)
            let store: any Store = try SQLiteStore(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(40, in: store)
            // A drain that never reaches the point still ends, with 0.
            let doomed = try deployment.startWorker(
                "--drain --concurrency \(concurrency) --log-level error",
                environment: Self.longLease.merging(
                    ["CAMEO_TEST_KILL_POINT": "\(point.rawValue):\(Self.survived + 1)"]
                ) { $1 }
            )
            #expect(
                await doomed.ending == .signalled(SIGKILL),
                "\(String(decoding: doomed.standardError, as: UTF8.self))"
            )
            let left = try await deployment.orphanedFiles()
            let completed = try await store.status().count(.completed)
            heir.send(SIGCONT)

            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            #expect(await heir.stop() == .exited(0))
            try await expectDeathsCounted(deployment)
            if concurrency == 1 {
                expectState(at: point, left.whole.count, left.unfinished.count, completed)
            } else {
                #expect(completed < 40, "all was done before the death: nothing was tested")
            }
            // Files without a row were written again, byte for byte.
            #expect(try await deployment.orphanedFiles().whole.isEmpty)
        }

        /// With one job at a time, the trace shows exactly where its worker died.
        private func expectState(at point: KillPoint, _ unnamed: Int, _ unfinished: Int, _ completed: Int) {
            #expect(completed == Self.survived + (point == .afterCommit ? 1 : 0))
            #expect(unnamed == (point == .afterBlobSync || point == .insideTransaction ? 1 : 0))
            #expect(unfinished == 0)
        }

        private func expectDeathsCounted(_ deployment: Deployment) async throws {
            let counts = try await deployment.sql(
                """
                SELECT (SELECT sum(crash_count) FROM outcome), (SELECT max(crash_count) FROM outcome) <= 1,
                  (SELECT count(*) FROM attempt WHERE outcome = 'interrupted');
                """
            ).split(separator: "|")
            #expect(counts.count == 3 && counts[0] == counts[2] && counts[1] == "1", "\(counts)")
        }
    }
}
