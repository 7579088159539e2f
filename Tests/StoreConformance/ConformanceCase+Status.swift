internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Testing

extension ConformanceCase {
    static let reporting = [
        ConformanceCase("a status tells what ended recently, how long it took, why it failed and what runs") {
            fixture in
            try await fixture.register()
            try await fixture.enqueue(4)
            fixture.clock.advance(seconds: 2)
            let jobs = try await fixture.claim(4)
            var timings = AttemptTimings()
            (timings.fetchMilliseconds, timings.renderMilliseconds) = (10, 30)
            try await fixture.store.settle(jobs[0].claim, as: .complete(Fixture.product(of: jobs[0])), timings: timings)
            let later = fixture.clock.now + 60
            let failed = AttemptEnd.retry(Fixture.failure, at: later)
            _ = try await fixture.store.settle(jobs[1].claim, as: failed, timings: timings)
            _ = try await fixture.store.settle(jobs[2].claim, as: .discard(Fixture.failure), timings: timings)

            let status = try await fixture.store.status()
            func ended(_ counts: [Int], in seconds: Double) -> [StatusReport.Throughput] {
                zip([1, 5, 15], counts).map { minutes, count in
                    StatusReport.Throughput(
                        minutes: minutes,
                        completed: count,
                        discarded: count,
                        seconds: count > 0 ? seconds : 1
                    )
                }
            }
            #expect(status.throughput == ended([1, 1, 1], in: 2))
            #expect(status.stages.count == 4 && status.stages.last?.stage == .store, "the store's time is its own")
            #expect(
                status.stages.dropLast() == [
                    StatusReport.StageTimes(stage: .wait, p50: 2_000, p95: 2_000),
                    StatusReport.StageTimes(stage: .fetch, p50: 10, p95: 10),
                    StatusReport.StageTimes(stage: .render, p50: 30, p95: 30),
                ]
            )
            let example = StatusReport.FailedJob(id: 3, source: "file:///pictures/2.jpg", message: "slow")
            #expect(status.failures == [StatusReport.Failures(code: .sourceTimeout, count: 2, example: example)])
            let running = StatusReport.RunningJob(id: 4, source: "file:///pictures/3.jpg", since: fixture.clock.now)
            #expect(status.workers.map(\.current) == [[running]])
            #expect(status.etaSeconds == 2, "two jobs are left, and two ended in two seconds")
            let work = 40 + (status.stages.last?.p50 ?? 0)
            #expect(status.backgroundRate == 1_000 / Double(work), "what a job takes, however few there were")
            let trouble = StatusReport.Worker.Trouble(reason: "no", since: fixture.clock.now)
            let hindered = WorkerProgress(trouble: trouble)
            try await fixture.store.extendLease(of: "w1", adding: StoreCounters(), hindered)
            #expect(try await fixture.store.status().etaSeconds == nil, "the worker takes nothing")
            try await fixture.store.extendLease(of: "w1")
            _ = try await fixture.store.pause("default", unknown: .refused)
            #expect(try await fixture.store.status().etaSeconds == nil, "nothing is taken")
            _ = try await fixture.store.resume("default")
            #expect(try await fixture.store.status().etaSeconds != nil)

            fixture.clock.advance(seconds: 118)
            try await fixture.store.extendLease(of: "w1")
            let second = try await fixture.store.status()
            // One that runs is work, for half a minute after the last change.
            #expect(second.throughput == ended([0, 1, 1], in: 32) && second.etaSeconds == 32)
            fixture.clock.advance(seconds: 240)
            let third = try await fixture.store.status()
            #expect(third.throughput == ended([0, 0, 1], in: 32) && third.etaSeconds == nil)
            fixture.clock.advance(seconds: 600)
            #expect(try await fixture.store.status().throughput == ended([0, 0, 0], in: 1))
        },
        ConformanceCase("the views show sources without the user names and passwords of their URLs") { fixture in
            let secret = [
                "https://u:secret@h/x", "https://secret@h", "HTTPS://u:se@cret@h?x", "https://u:secret@h\\\\@z",
                "https://u:sec/ret@h/x", "https://u:12secret@[::1]/x", "ftp://secret@h/x",
                "cameo://source/https%3A%2F%2Fu%3Asecret%40h%2Fx", "cameo://source/http%3a%2f%2fsecret%40h",
                "https://u:\\u0073ecret\\u0040h/x",
            ]
            let harmless = [
                "https://h/@secret", "https://h:80/a@secret", "https://[::1]:8/a@secret", "file:///secret@2x.png",
                "cameo://source/https%3A%2F%2Fh%2F%40secret", "data:image/png;base64,secret", "secret@h",
                "initials:secret%40h", "https://h/?secret=%40", "https://h:/a@secret",
            ]
            for source in secret + harmless {
                let request = #"{"source":"\#(source)","renditions":[{"width":9}]}"#
                _ = try await fixture.sql("INSERT INTO job(request) VALUES ('\(request)')")
            }
            let shown = try await fixture.sql("SELECT source FROM job_status ORDER BY id").split(separator: "\n")
            try #require(shown.count == secret.count + harmless.count)
            for (source, shown) in zip(secret, shown) {
                #expect(!shown.contains("secret") && !shown.contains("ret@"), "\(source): \(shown)")
                #expect(shown.contains("h") || shown.contains("::1"), "\(source): \(shown)")
            }
            #expect(shown.dropFirst(secret.count).map(String.init) == harmless)
        },
        ConformanceCase("a job that needed no work is not counted as work") { fixture in
            try await fixture.register()
            try await fixture.enqueue()
            try await fixture.complete(try #require(try await fixture.claim().first))
            let again = Fixture.request(0) { $0.refresh = .never }
            #expect(try await fixture.store.enqueue([again]).count == 1)
            let status = try await fixture.store.status()
            #expect(status.throughput.map(\.completed) == [1, 1, 1])
        },
        ConformanceCase("failures of many codes are the most frequent") { fixture in
            try await fixture.register()
            let codes: [JobFailure.Code] = [
                .imageCorrupt, .sourceNotFound, .sourceTimeout, .renderCrashed, .imageTooManyPixels, .sourceForbidden,
            ]
            for (index, code) in codes.enumerated() {
                try await fixture.enqueue(index + 1)
                for job in try await fixture.claim(10) {
                    try await fixture.store.fail(job.claim, with: JobFailure(code, at: .fetch, "x"))
                }
            }
            let failures = try await fixture.store.status().failures
            #expect(failures.map(\.count) == [6, 5, 4, 3, 2])
            #expect(failures.map(\.code) == codes.reversed().dropLast())
            #expect(failures.map(\.example.id) == [21, 15, 10, 6, 3], "the newest")
        },
        ConformanceCase("a worker shows what it has run longest") { fixture in
            try await fixture.register()
            for _ in 0..<6 {
                try await fixture.enqueue()
                _ = try await fixture.claim()
                fixture.clock.advance(seconds: 1)
            }
            let worker = try #require(try await fixture.store.status().workers.first)
            #expect(worker.running == 6 && worker.current.map(\.id) == [1, 2, 3, 4])
        },
    ]
}
