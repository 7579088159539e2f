import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    static let batches: [ConformanceCase] = [
        ConformanceCase("a batch reports progress, failures and time left") { fixture in
            try await fixture.register()
            try await fixture.enqueue(8) { $0.batch = "holiday" }
            try await fixture.enqueue(3) { $0.batch = "other" }
            fixture.clock.advance(seconds: 60)
            let jobs = try await fixture.store.claim(limit: 5, for: "w1")
            for (job, code) in zip(jobs, [JobFailure.Code.sourceNotFound, .imageCorrupt, .sourceNotFound]) {
                let failure = JobFailure(code, at: .fetch, "no")
                try await fixture.store.fail(job.claim, with: failure)
            }
            _ = try await fixture.store.cancel(jobs[3].claim.jobID)
            let report = try await fixture.store.batch("holiday")
            #expect((report.total, report.finished, report.finishedLastMinute) == (8, 4, 4))
            #expect((report.count(.discarded), report.count(.cancelled), report.count(.running)) == (3, 1, 1))
            let failures = report.failures.map { "\($0.code.rawValue) \($0.count)" }
            #expect(failures == ["source.notFound 2", "image.corrupt 1"])
            #expect(report.secondsLeft == 60, "the other half at the rate of the last minute")
            fixture.clock.advance(seconds: 61)
            let later = try await fixture.store.batch("holiday")
            #expect((later.finishedLastMinute, later.secondsLeft) == (0, nil), "no progress, so no estimate")
        },
        ConformanceCase("a young batch is rated over its own age") { fixture in
            try await fixture.register()
            let receipts = try await fixture.enqueue(4) { $0.batch = "b" }
            fixture.clock.advance(seconds: 10)
            for receipt in receipts.prefix(2) { _ = try await fixture.store.cancel(receipt.jobID) }
            #expect(try await fixture.store.batch("b").secondsLeft == nil, "no job is taken, so no estimate")
            _ = try await fixture.store.claim(limit: 1, for: "w1")
            #expect(try await fixture.store.batch("b").secondsLeft == 10)
        },
        ConformanceCase("a finished batch has nothing left") { fixture in
            let receipts = try await fixture.enqueue(2) { $0.batch = "b" }
            for receipt in receipts { _ = try await fixture.store.cancel(receipt.jobID) }
            let report = try await fixture.store.batch("b")
            #expect(report.isFinished && report.secondsLeft == nil)
        },
        ConformanceCase("a batch that no job names is refused") { fixture async throws in
            await #expect(throws: StoreError.noSuch(.batch, "b")) { try await fixture.store.batch("b") }
        },
    ]
}
