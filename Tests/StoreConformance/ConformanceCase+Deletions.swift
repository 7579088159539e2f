import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// What other programs delete, and what restores bring.
    static let deletions: [ConformanceCase] = [
        ConformanceCase("an upload whose job has not ended cannot be deleted") { fixture in
            try await fixture.register()
            try await fixture.upload(Data([1]), #"{"renditions":[{"width":64}]}"#)
            await expectRefusal(of: "DELETE FROM upload", fixture)
            let job = try #require(try await fixture.claim().first)
            #expect(job.uploadedBytes == 1)
            await expectRefusal(of: "DELETE FROM upload WHERE id = 1", fixture)
            try await fixture.complete(job)
            try await fixture.sql("DELETE FROM upload")
        },
        ConformanceCase("a queue or key with jobs cannot be deleted") { fixture in
            try await fixture.register()
            try await fixture.enqueue(2) { ($0.queue, $0.concurrencyKey) = ("web", "k") }
            await expectRefusal(of: "DELETE FROM queue WHERE name = 'web'", fixture)
            await expectRefusal(of: "DELETE FROM key", fixture)
            #expect(try await fixture.claim(9).count == 1)
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a job whose row is gone ends alone when it is claimed") { fixture in
            try await fixture.register()
            try await fixture.enqueue(3)
            try await fixture.enqueue { $0.concurrencyKey = "k" }
            for id in [Int64(1), 4] { try await fixture.engine.lose(id, in: fixture.store) }
            #expect(try await fixture.claim(1).map(\.claim.jobID) == [2])
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [3])
            #expect(try await fixture.claim(9).isEmpty)
            let lost = fixture.store.takeRefused()
            #expect(lost.map(\.id) == [1, 4] && lost.allSatisfy { $0.failure.message.contains("deleted") })
            #expect(try await fixture.sql("SELECT count(*) FROM task") == "2")
            #expect(try await fixture.store.status().count(.available) == 0)
            #expect(try await fixture.store.status().count(.running) == 2)
        },
        ConformanceCase("a running job whose row is gone stops no other") { fixture in
            try await fixture.register()
            try await fixture.enqueue(4)
            let jobs = try await fixture.claim(9)
            for id in [Int64(1), 2, 3] { try await fixture.engine.lose(id, in: fixture.store) }
            try await fixture.complete(jobs[0])
            _ = try await fixture.store.settle(jobs[1].claim, as: .release, timings: AttemptTimings())
            try await fixture.complete(jobs[3])
            #expect(try await fixture.state(of: 4) == .completed)
            // The third is its worker's until that dies.
            try await fixture.engine.kill("w1", in: fixture.store)
            _ = try await fixture.rescue("w1")
            try await fixture.register("w2")
            _ = try await fixture.claim(9, for: "w2")
            #expect(try await fixture.sql("SELECT count(*) FROM task") == "0")
            #expect(try await fixture.store.status().count(.running) == 0)
        },
        ConformanceCase("a restored job keeps its state") { fixture in
            try await fixture.register()
            try await fixture.sql(
                "INSERT INTO job(request) VALUES ('{\"source\":\"file:///a\",\"renditions\":[{\"width\":9}],\"priority\":1000}')"
            )
            try await fixture.enqueue(4)
            let jobs = try await fixture.claim(3)
            #expect(jobs.map(\.claim.jobID) == [2, 3, 4])
            try await fixture.complete(jobs[0])
            try await fixture.store.discard([jobs[1]], Fixture.failure)
            let before = try await fixture.sql("SELECT id, state FROM job_status ORDER BY id")
            #expect(before == "1|discarded\n2|completed\n3|discarded\n4|running\n5|available")
            try await fixture.engine.enterAgain(in: fixture.store)
            try await fixture.engine.acceptArrivals(in: fixture.store)
            #expect(try await fixture.sql("SELECT id, state FROM job_status ORDER BY id") == before)
            #expect(fixture.store.takeRefused().map(\.id) == [1])
            try await fixture.complete(jobs[2])
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [5])
            #expect(try await fixture.faults() == [])
        },
    ]

    static let deletionsVaried: [ConformanceCase] = [JobState.available, .scheduled, .running, .retryable].flatMap {
        [
            aJobThatHasNotEndedCannotBeDeleted($0, by: "DELETE FROM job WHERE id = 1"),
            aJobThatHasNotEndedCannotBeDeleted($0, by: "DELETE FROM job"),
        ]
    }

    private static func aJobThatHasNotEndedCannotBeDeleted(_ state: JobState, by statement: String) -> ConformanceCase {
        ConformanceCase("a job that is \(state.rawValue) is not deleted by \(statement)") { fixture in
            try await fixture.register()
            if state == .scheduled {
                try await fixture.enqueue { $0.runAt = fixture.clock.now.addingTimeInterval(60) }
            } else {
                // First as a row that no Cameo process has seen.
                try await fixture.sql(
                    "INSERT INTO job(request) VALUES ('{\"source\":\"file:///a\",\"renditions\":[{\"width\":9}]}')"
                )
                await expectRefusal(of: statement, fixture)
                try await fixture.engine.acceptArrivals(in: fixture.store)
            }
            if state == .running || state == .retryable { #expect(try await fixture.claim().count == 1) }
            if state == .retryable {
                let claim = try #require(try await fixture.store.sweep(for: "w1").claims.first)
                let time = fixture.clock.now.addingTimeInterval(60)
                _ = try await fixture.store.settle(
                    claim,
                    as: .retry(Fixture.failure, at: time),
                    timings: AttemptTimings()
                )
            }
            #expect(try await fixture.state(of: 1) == state)
            await expectRefusal(of: statement, fixture)
            try await fixture.store.deregister("w1")
            fixture.clock.advance(seconds: 61)
            try await fixture.register("w2")
            let job = try #require(try await fixture.claim(for: "w2").first)
            try await fixture.complete(job)
            #expect(try await fixture.state(of: 1) == .completed)
            // Once it has ended, it may be.
            try await fixture.sql(statement)
            #expect(try await fixture.sql("SELECT count(*) FROM job") == "0")
        }
    }

    private static func expectRefusal(of statement: String, _ fixture: Fixture) async {
        await #expect(throws: (any Error).self, "\(statement)") { try await fixture.sql(statement) }
    }
}
