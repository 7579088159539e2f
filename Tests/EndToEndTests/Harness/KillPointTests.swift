import CameoModel
import CameoSQLite
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
        /// It would be waited for in vain: jobs come free by the death itself, or this test does not end.
        private static let longLease: [String: String?] = ["CAMEO_TEST_LEASE_MS": "3600000"]

        @Test(arguments: KillPoint.allCases, [1, 8])
        func aDeathThereLosesNothingDoublesNothingAndChargesNobody(point: KillPoint, concurrency: Int) async throws {
            let deployment = try Deployment()
            let heir = try await deployment.startFrozenWorker("--log-level", "error", environment: Self.longLease)
            let store = try SQLiteStore(at: deployment.store)
            let receipts = try await deployment.enqueueDistinct(40, in: store)
            // A drain ends even if it never comes by the point, with 0.
            let doomed = try deployment.startWorker(
                "--drain",
                "--concurrency",
                "\(concurrency)",
                "--log-level",
                "error",
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
            heir.send(SIGTERM)
            #expect(await heir.ending == .exited(0))
            try await expectDeathsCounted(deployment)
            if concurrency == 1 {
                expectState(at: point, left.whole.count, left.unfinished.count, completed)
            } else {
                #expect(completed < 40, "all was done before the death: nothing was tested")
            }
            // Whatever stood unnamed was made again, byte for byte.
            #expect(try await deployment.orphanedFiles().whole.isEmpty)
        }

        /// One job at a time leaves exactly one trace of where its worker died.
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
