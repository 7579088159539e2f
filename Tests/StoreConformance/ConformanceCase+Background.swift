import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let givingWay = [
        ConformanceCase("background queues come after all others, however long they wait, and leave room") { fixture in
            try await fixture.store.setBackground(true, queue: "backfill", unknown: .created)
            try await fixture.enqueue(5) { ($0.queue, $0.priority) = ("backfill", 100) }
            fixture.clock.advance(seconds: 86_400)
            try await fixture.enqueue(1, from: 5) { $0.priority = -100 }
            try await fixture.enqueue(1, from: 6) { $0.queue = "uploads" }
            func claim(_ limit: Int, background: Int) async throws -> [ClaimedJob] {
                try await fixture.store.claim(
                    ClaimRequest(limit: limit, background: background, kind: .usual, queues: nil, for: "w1")
                )
            }
            let first = try await claim(4, background: 1)
            #expect(first.map(\.claim.jobID) == [7, 6, 1])
            #expect(first.map(\.isBackground) == [false, false, true])
            #expect(try await claim(9, background: 0).isEmpty)
            #expect(try await fixture.store.unfinishedJobs(queues: nil, background: .excluded) == 2)
            #expect(try await claim(2, background: 9).map(\.claim.jobID) == [2, 3])
            let queue = try await fixture.store.queue("backfill")
            #expect(queue.isBackground && queue.opensAt == nil)
            try await fixture.store.setBackground(false, queue: "backfill", unknown: .refused)
            try await fixture.enqueue(1, from: 7) { $0.queue = "uploads" }
            #expect(try await claim(3, background: 0).map(\.claim.jobID) == [4, 5, 8])
            await #expect(throws: StoreError.noSuch(.queue, "none")) {
                try await fixture.store.setBackground(true, queue: "none", unknown: .refused)
            }
        },
        ConformanceCase("a poison job of a background queue waits for room too") { fixture in
            try await fixture.store.setBackground(true, queue: "backfill", unknown: .created)
            try await fixture.enqueue { $0.queue = "backfill" }
            for death in 1...ClaimKind.poisonAfterCrashes {
                try await fixture.register("w\(death)")
                #expect(try await fixture.claim(1, for: "w\(death)").count == 1)
                try await fixture.engine.kill("w\(death)", in: fixture.store)
                _ = try await fixture.rescue("w\(death)")
            }
            fixture.clock.advance(seconds: 3_600)
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil, background: .excluded))
            #expect(try await fixture.store.hasOverduePoisonJob(queues: nil, background: .included))
            func claim(background: Int) async throws -> Int {
                let request = ClaimRequest(limit: 1, background: background, kind: .poison, queues: nil, for: "w9")
                let jobs = try await fixture.store.claim(request)
                return jobs.count
            }
            #expect(try await claim(background: 0) == 0)
            #expect(try await claim(background: 1) == 1)
        },
    ]
}
