import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    static let claims: [ConformanceCase] = [
        ConformanceCase("nothing is claimed twice") { fixture in
            try await fixture.enqueue(200)
            let stores = try await fixture.others(4)
            let claims = try await withThrowingTaskGroup(of: [ClaimedJob].self) { group in
                for store in stores {
                    for worker in 0..<8 {
                        group.addTask { try await store.claim(limit: 10, for: "w\(worker)") }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.count == 200)
            #expect(Set(claims.map(\.claim.jobID)).count == 200)
            #expect(Set(claims.map(\.claim.token)).count == 200)
        },
        ConformanceCase("the lowest rank of all queues comes first") { fixture in
            for (queue, priority) in [("a", 0), ("b", 5), ("c", 3)] {
                try await fixture.enqueue {
                    $0.queue = queue
                    $0.priority = priority
                }
            }
            #expect(try await fixture.store.claim(limit: 2, for: "w1").map(\.queue) == ["b", "c"])
        },
        ConformanceCase("among thousands of due jobs the first comes first") { fixture in
            // One claim makes a thousand available.
            let now = fixture.clock.now
            try await fixture.enqueue(1_000) { $0.runAt = now.addingTimeInterval(60) }
            try await fixture.enqueue { $0.runAt = now.addingTimeInterval(30) }
            fixture.clock.advance(seconds: 61)
            #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1_001])
        },
        ConformanceCase("poison jobs are only claimed alone") { fixture in
            try await fixture.enqueue(2)
            try await fixture.sql("UPDATE task SET crash_count = 3 WHERE id = 1")
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
            try await fixture.sql("UPDATE task SET attempted_at = 1 WHERE id = 1")
            #expect(try await fixture.store.hasOverduePoisonJob(queues: nil))
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: ["other"]))
            #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
            #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").map(\.claim.jobID) == [1])
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        },
        ConformanceCase("a poison job is overdue after a minute") { fixture in
            try await fixture.enqueue()
            let now = fixture.clock.now.milliseconds
            try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = \(now)")
            fixture.clock.advance(seconds: 59)
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
            fixture.clock.advance(seconds: 1)
            #expect(try await fixture.store.hasOverduePoisonJob(queues: nil))
        },
        ConformanceCase("a thousand queues are no obstacle") { fixture in
            let requests = (0..<1_000).map { index in
                Fixture.request("file:///\(index)") { $0.queue = "q\(index)" }
            }
            _ = try await fixture.store.enqueue(requests)
            #expect(try await fixture.store.claim(limit: 700, for: "w1").count == 700)
            #expect(try await fixture.store.claim(limit: 700, for: "w1").count == 300)
        },
        ConformanceCase("a limit holds for claims at the same time") { fixture in
            try await fixture.enqueue(30) {
                $0.concurrencyKey = "tenant"
                $0.concurrencyLimit = 3
            }
            try await fixture.enqueue(30) { $0.queue = "narrow" }
            try await fixture.store.limit(queue: "narrow", to: 4)
            let stores = try await fixture.others(8)
            let jobs = try await withThrowingTaskGroup(of: [ClaimedJob].self) { group in
                for (index, store) in stores.enumerated() {
                    group.addTask { try await store.claim(limit: 9, for: "w\(index)") }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(jobs.count { $0.queue == "narrow" } == 4)
            #expect(jobs.count { $0.queue == "default" } == 3)
        },
        ConformanceCase("no job of a key is hidden by a claim at the same time") { fixture in
            // A head that a claim raises while a job below it is being inserted would hide that job.
            let (producer, worker) = (try await fixture.another(), try await fixture.another())
            let producing = Task {
                for number in 0..<60 {
                    _ = try await producer.enqueue([
                        Fixture.request("file:///\(number)") {
                            $0.concurrencyKey = "tenant"
                            $0.concurrencyLimit = 5
                        }
                    ])
                }
            }
            var done = 0
            while done < 60 {
                try Task.checkCancellation()
                for job in try await worker.claim(limit: 3, for: "w1") {
                    try await worker.complete(job.claim)
                    done += 1
                }
            }
            try await producing.value
            #expect(try await fixture.sql("SELECT count(*) FROM task") == "0")
        },
    ]
}
