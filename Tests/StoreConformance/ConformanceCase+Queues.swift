import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let queues: [ConformanceCase] = [
        ConformanceCase("a paused queue yields nothing while others continue") { fixture in
            try await fixture.register()
            try await fixture.enqueue { $0.queue = "imports" }
            try await fixture.enqueue { $0.queue = "uploads" }
            #expect(try await fixture.store.pause("imports"))
            #expect(try await !fixture.store.pause("imports"))
            let now = fixture.clock.storeClock.now()
            #expect(try await fixture.store.queues().map(\.pausedAt) == [now, nil])
            let claimed = try await fixture.store.claim(limit: 10, for: "w1")
            #expect(claimed.map(\.queue) == ["uploads"])
            #expect(try await fixture.store.unfinishedJobs(queues: nil) == 1)
            #expect(try await fixture.store.resume("imports"))
            #expect(try await !fixture.store.resume("imports"))
            #expect(try await fixture.store.queues().map(\.pausedAt) == [nil, nil])
            #expect(try await fixture.store.claim(limit: 10, for: "w1").map(\.queue) == ["imports"])
        },
        ConformanceCase("due jobs that nobody works on have their reasons") { fixture in
            func expect(_ reasons: [Standstill]) async throws {
                #expect(try await fixture.reader().standstills() == reasons)
                #expect(try await fixture.store.status().standstills == reasons)
            }
            try await expect([])
            let later = fixture.clock.now + 60
            try await fixture.enqueue {
                $0.queue = "late"
                $0.runAt = later
            }
            try await expect([])
            try await fixture.enqueue { $0.queue = "a" }
            _ = try await fixture.sql(
                #"INSERT INTO job(request) VALUES ('{"source":"initials:A","renditions":[{"width":9}],"queue":"b"}')"#
            )
            try await expect([.noWorker])
            try await fixture.register(queues: ["a"])
            try await expect([.untaken(queue: "b")])
            _ = try await fixture.store.pause("a")
            try await expect([.paused(queue: "a"), .untaken(queue: "b")])
            try await fixture.register("w2")
            try await expect([.paused(queue: "a")])
        },
        ConformanceCase("running jobs of a paused queue complete") { fixture in
            try await fixture.register()
            try await fixture.enqueue()
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            _ = try await fixture.store.pause("default")
            try await fixture.store.complete(job)
            #expect(try await fixture.store.job(job.claim.jobID).state == .completed)
        },
        ConformanceCase("a misspelt queue is refused by name") { fixture in
            try await fixture.enqueue { $0.queue = "imports" }
            await #expect(throws: StoreError.noSuch(.queue, "import")) { try await fixture.store.pause("import") }
            await #expect(throws: StoreError.noSuch(.queue, "import")) { try await fixture.store.resume("import") }
            #expect(try await fixture.store.queues().map(\.name) == ["imports"])
        },
        ConformanceCase("queues whose names only look alike are two") { fixture in
            // Swift considers é and e with a combining accent equal. No valid request names such a queue; rows may.
            let names = ["caf\u{e9}", "cafe\u{301}"]
            for name in names {
                for _ in 0..<2 {
                    let request = "{\"source\":\"file:///a\",\"renditions\":[{\"width\":1}],\"queue\":\"\(name)\"}"
                    _ = try await fixture.sql("INSERT INTO job(request) VALUES ('\(request)')")
                }
            }
            for known in [false, true] {
                if known {
                    _ = try await fixture.sql("INSERT INTO queue(name) VALUES ('\(names[0])'), ('\(names[1])')")
                }
                let queues = try await fixture.store.queues()
                #expect(queues.map { Array($0.name.utf8) } == names.map { Array($0.utf8) }.reversed())
                #expect(queues.map { $0.jobs[.available] } == [2, 2])
                #expect(try await fixture.store.unfinishedJobs(queues: [names[0]]) == 2)
                #expect(try await fixture.store.unfinishedJobs(queues: names) == 4)
            }
        },
        ConformanceCase("a queue can be paused before its first job") { fixture in
            try await fixture.register()
            #expect(try await fixture.store.pause("later", unknown: .created))
            try await fixture.enqueue { $0.queue = "later" }
            #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
            let queue = try #require(try await fixture.store.status().queues.first)
            #expect((queue.name, queue.paused, queue.jobs[.available]) == ("later", true, 1))
        },
    ]
}
