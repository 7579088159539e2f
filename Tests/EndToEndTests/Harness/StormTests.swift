import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Many processes on one store. `deploy/soak` does the same for minutes.
    @Suite(.timeLimit(.minutes(10)))
    struct StormTests {
        @Test(.enabled(if: TestLength.isWhole, "--all")) func sixteenProducersAndEightWorkersDoEveryJobOnce()
            async throws
        {
            let deployment = try await Deployment.withPhoto()
            let (producers, rounds) = (16, 6)
            let workers = try (0..<8).map { _ in
                try deployment.startWorker("--render-concurrency 1 --concurrency 4 --log-level warning")
            }
            let receipts = try await withThrowingTaskGroup(of: [EnqueueReceipt].self) { group in
                for producer in 0..<producers {
                    group.addTask {
                        var receipts: [EnqueueReceipt] = []
                        for round in 0..<rounds {
                            let sizes = [
                                "--size", "\(30 + round)x\(900 + producer)", "--size",
                                "\(300 + producer)x\(900 + round):png",
                            ]
                            let words =
                                ["pictures/photo.jpg", "--json"]
                                + (round.isMultiple(of: 4) ? sizes : Array(sizes.prefix(2)))
                            let result = try await deployment.command("cameo-enqueue", words)
                            guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
                            receipts += try result.outputText.split(separator: "\n").map {
                                try WireFormat.decode(EnqueueReceipt.self, from: Data($0.utf8))
                            }
                        }
                        return receipts
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(receipts.count == producers * rounds)
            try await deployment.expectCompletedOnce(receipts)
            try await deployment.expectUncharged(receipts)
            for worker in workers {
                #expect(await worker.stop() == .exited(0))
                let said = String(decoding: worker.standardError, as: UTF8.self).split(separator: "\n")
                // Only how long it waits for its turn depends on the machine.
                #expect(said.filter { !$0.contains("waits for the store") } == [])
            }
            let status = try await deployment.status()
            #expect(status.jobs.values.reduce(0, +) == receipts.count)
            #expect(status.workers.isEmpty)
            #expect(try await deployment.orphanedFiles().whole.isEmpty)
        }
    }
}
