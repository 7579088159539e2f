import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let claiming = [
        ConformanceCase("the lowest rank is claimed first, each job by one worker") { fixture in
            try await fixture.register()
            try await fixture.enqueue(2)
            try await fixture.enqueue(1, from: 2) { $0.priority = 5 }
            let other = try await fixture.another()
            let first = try await fixture.claim(2)
            let rest = try await other.claim(limit: 9, kind: .usual, queues: nil, for: "w2")
            #expect(first.map(\.claim.jobID) == [3, 1])
            #expect(rest.map(\.claim.jobID) == [2])
            #expect(Set((first + rest).map(\.claim.token)).count == 3)
            #expect(first.map(\.attempt) == [1, 1])
            let job = try await fixture.store.job(3)
            #expect((job.state, job.worker) == (.running, "w1"))
            #expect(job.attempts?.map(\.outcome) == [.running])
        },
        ConformanceCase("a scheduled job is claimed when it is due") { fixture in
            try await fixture.enqueue { $0.runAt = fixture.clock.now + 60 }
            #expect(try await fixture.state(of: 1) == .scheduled)
            #expect(try await fixture.claim().isEmpty)
            #expect(try await fixture.store.sweep(for: "w1").due == fixture.clock.now + 60)
            // Due jobs do not make others due.
            try await fixture.enqueue(1, from: 1)
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [2])
            fixture.clock.advance(seconds: 60)
            #expect(try await fixture.claim().map(\.claim.jobID) == [1])
        },
        ConformanceCase("a minute of waiting is worth one step of priority") { fixture in
            try await fixture.enqueue()
            try await fixture.enqueue(1, from: 2) { $0.priority = -5 }
            fixture.clock.advance(seconds: 301)
            try await fixture.enqueue(1, from: 1) { $0.priority = 5 }
            #expect(try await fixture.claim(3).map(\.claim.jobID) == [1, 3, 2])
        },
        ConformanceCase("a claim takes jobs only from the queues that it names, never from paused ones") { fixture in
            for (index, queue) in ["a", "b", "c"].enumerated() {
                try await fixture.enqueue(1, from: index) { $0.queue = queue }
            }
            #expect(try await fixture.store.pause("b", unknown: .refused))
            #expect(try await fixture.claim(9, queues: ["b", "c"]).map(\.claim.jobID) == [3])
            #expect(try await fixture.store.unfinishedJobs(queues: nil) == 2)
            #expect(try await fixture.store.resume("b"))
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [1, 2])
        },
    ]

    static let settling = [
        ConformanceCase("thumbnails and completion become visible together") { fixture in
            try await fixture.enqueue { $0.renditions.append(Rendition(width: 32, height: 32)) }
            let job = try #require(try await fixture.claim().first)
            let ids = try job.parsedRequest().thumbnailIDs()
            #expect(try await !fixture.store.have(ids, as: nil))
            try await fixture.complete(job)
            let done = try await fixture.store.job(1)
            #expect((done.state, done.thumbnails.compactMap(\.blob).count) == (.completed, 2))
            #expect(try await fixture.store.have(ids, as: nil))
            #expect(done.attempts?.map(\.outcome) == [.completed])
        },
        ConformanceCase("a request that is repeated under its key is accepted once") { fixture in
            let (request, key) = (Fixture.request(1), try IdempotencyKey("7c5e", of: "shop"))
            func enqueue(_ request: ThumbnailRequest, _ data: Data? = nil, _ key: IdempotencyKey) async throws
                -> EnqueueReceipt
            {
                try await fixture.store.enqueue(request, data: data, cacheKey: nil, once: key)
            }
            let first = try await enqueue(request, nil, key)
            // Even after the job has ended, and from another process.
            try await fixture.complete(try #require(try await fixture.claim().first))
            let other = try await fixture.another()
            #expect(try await other.enqueue(request, data: nil, cacheKey: nil, once: key) == first)
            await #expect(throws: InvalidRequest.self) { try await enqueue(Fixture.request(2), nil, key) }
            await #expect(throws: InvalidRequest.self) { try await enqueue(request, Data([1]), key) }
            let own = try IdempotencyKey("7c5e", of: "gallery")
            let upload = try await enqueue(request, Data([1, 2]), own)
            #expect(upload.id != first.id)
            #expect(try await enqueue(request, Data([1, 2]), own) == upload)
            await #expect(throws: InvalidRequest.self) { try await enqueue(request, Data([1, 3]), own) }
            // A day later, the key is free.
            fixture.clock.advance(seconds: 86_400)
            #expect(try await enqueue(Fixture.request(2), nil, key).id != first.id)
        },
        ConformanceCase("batches are listed newest first, page by page") { fixture in
            for name in ["a", "b", "c"] { try await fixture.enqueue(2, from: name == "b" ? 2 : 0) { $0.batch = name } }
            let first = try await fixture.store.batches(before: nil, limit: 2)
            #expect(first.batches.map(\.name) == ["c", "b"])
            let rest = try await fixture.store.batches(before: first.next, limit: 2)
            try #require(rest.batches.map(\.name) == ["a"])
            #expect(rest.next == nil && rest.batches[0].total == 2)
        },
        ConformanceCase("a lost claim neither settles nor stores anything") { fixture in
            try await fixture.enqueue()
            let job = try #require(try await fixture.claim().first)
            _ = try await fixture.store.cancel(1)
            let product = try Fixture.product(of: job)
            await expectLeaseLost(job) {
                try await fixture.store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
            }
            await expectLeaseLost(job) {
                _ = try await fixture.store.settle(job.claim, as: .release, timings: AttemptTimings())
            }
            await expectLeaseLost(job) { try await fixture.store.fail(job.claim, with: Fixture.failure) }
            await expectLeaseLost(job) {
                _ = try await fixture.store.beginFetch(job.claim, of: try job.parsedRequest())
            }
            #expect(try await !fixture.store.have(job.parsedRequest().thumbnailIDs(), as: nil))
            #expect(try await fixture.store.status().thumbnails == 0)
            let ended = try await fixture.store.job(1)
            #expect((ended.state, ended.attempts?.map(\.outcome)) == (.cancelled, [.cancelled]))
        },
        ConformanceCase("the token of an earlier attempt is not a valid claim") { fixture in
            try await fixture.enqueue()
            let first = try #require(try await fixture.claim().first)
            _ = try await fixture.store.settle(first.claim, as: .release, timings: AttemptTimings())
            // A release does not count the attempt.
            let released = try await fixture.store.job(1)
            #expect((released.state, released.attempt, released.crashCount) == (.available, 0, 0))
            #expect(released.attempts?.map(\.outcome) == [.released])
            let second = try #require(try await fixture.claim(for: "w2").first)
            await expectLeaseLost(first) { try await fixture.complete(first) }
            await expectLeaseLost(first) {
                _ = try await fixture.store.beginFetch(first.claim, of: try first.parsedRequest())
            }
            try await fixture.complete(second)
            #expect(try await fixture.state(of: 1) == .completed)
        },
        ConformanceCase("a failed job waits for its back-off, and the next attempt knows the failure") { fixture in
            try await fixture.enqueue()
            let job = try #require(try await fixture.claim().first)
            let end = AttemptEnd.retry(Fixture.failure, at: fixture.clock.now + 10)
            #expect(try await fixture.store.settle(job.claim, as: end, timings: AttemptTimings()) == nil)
            let waiting = try await fixture.store.job(1)
            #expect((waiting.state, waiting.failure) == (.retryable, Fixture.failure))
            #expect(waiting.availableAt == fixture.clock.now + 10)
            #expect(try await fixture.claim().isEmpty)
            fixture.clock.advance(seconds: 10)
            let again = try #require(try await fixture.claim().first)
            #expect((again.attempt, again.previousFailure) == (2, Fixture.failure))
            _ = try await fixture.store.settle(again.claim, as: .discard(Fixture.failure), timings: AttemptTimings())
            let ended = try await fixture.store.job(1)
            #expect((ended.state, ended.failure) == (.discarded, Fixture.failure))
            #expect(ended.attempts?.map(\.outcome) == [.retryable, .discarded])
        },
        ConformanceCase("a postponed job is as before its claim, except for its due time") { fixture in
            try await fixture.enqueue()
            let job = try #require(try await fixture.claim().first)
            let end = AttemptEnd.postpone(until: fixture.clock.now + 10)
            #expect(try await fixture.store.settle(job.claim, as: end, timings: AttemptTimings()) == nil)
            await expectLeaseLost(job) { try await fixture.complete(job) }
            let waiting = try await fixture.store.job(1)
            #expect((waiting.state, waiting.attempt, waiting.attempts?.isEmpty) == (.retryable, 0, true))
            #expect(try await fixture.claim().isEmpty)
            // A drain waits for the job.
            #expect(try await fixture.store.unfinishedJobs(queues: nil) == 1)
            fixture.clock.advance(seconds: 10)
            let again = try #require(try await fixture.claim().first)
            #expect(again.attempt == 1 && again.begun.isFirstAttempt && again.previousFailure == nil)
            try await fixture.complete(again)
            #expect(try await fixture.store.job(1).attempts?.map(\.number) == [1])
        },
        ConformanceCase("a job that a host cannot do waits for another's worker, and ends once none can") { fixture in
            try await fixture.register("w1", host: "b", lacks: [.writing(.avif)])
            try await fixture.register("w2", host: "a")
            try await fixture.register("w3", host: "elsewhere", queues: ["elsewhere"])
            try await fixture.enqueue()
            #expect(try await fixture.leave("w1") == nil)
            #expect(try await fixture.store.job(1).state == .retryable)
            let known = try await fixture.store.status().workers
            #expect(known.map(\.lacks) == [["write:avif"], nil, nil])
            #expect(known.map(\.queues) == [nil, nil, ["elsewhere"]])
            // The second finds it out by itself; the third takes no jobs of this queue.
            guard let failure = try await fixture.leave("w2")?.failure else {
                Issue.record("the job waits for a worker that can do it, and there is none")
                return
            }
            #expect(failure.code == .renderFormatUnavailable)
            #expect(failure.message.contains("(a, b)"), "\(failure.message)")
            let job = try await fixture.store.job(1)
            #expect((job.state, job.failure, job.attempts?.count) == (.discarded, failure, 1))
            // A worker that has ended does not count, and a new one may be able.
            try await fixture.store.deregister("w1")
            try await fixture.register("w4")
            try await fixture.enqueue()
            #expect(try await fixture.leave("w2") == nil)
        },
        ConformanceCase("a file that a host may not read waits for another's worker, and its failure names the hosts") {
            fixture in
            let folder = FileURI(path: Array("/srv/100%, ä".utf8))
            let failure = JobFailure(.sourceForbidden, at: .fetch, "1.jpg is outside").lacking(.files(in: folder))
            let unable = HostUnable(.files(in: folder), for: "1.jpg", ending: failure)
            #expect(HostLack(unable.lack.description) == unable.lack)
            try await fixture.register("w1", host: "b")
            try await fixture.register("w2", host: "a")
            try await fixture.enqueue()
            #expect(try await fixture.leave("w1", unable) == nil)
            #expect(try await fixture.store.status().workers.map(\.lacks) == [nil, nil], "folders are no formats")
            guard let end = try await fixture.leave("w2", unable)?.failure else {
                Issue.record("the job waits for a worker that can do it, and there is none")
                return
            }
            #expect(end.code == .sourceForbidden)
            #expect(end.message == "1.jpg is outside; nor can another worker's host (a, b)")
            #expect(try await fixture.sql("SELECT count(*) FROM worker_lack") == "0", "nobody has the folder")
            // Nobody else is to be asked.
            try await fixture.store.deregister("w1")
            try await fixture.enqueue()
            #expect(try await fixture.leave("w2", unable)?.failure == failure)
        },
        ConformanceCase("an older fetch never replaces a newer one's thumbnail") { fixture in
            try await fixture.enqueue()
            let old = try #require(try await fixture.claim().first)
            try await fixture.enqueue(1, from: 0)
            let new = try #require(try await fixture.claim().first)
            try await fixture.complete(new, bytes: "new", seen: 2)
            let stale = try Fixture.product(of: old, bytes: "old", seen: 1, source: "older")
            try await fixture.store.settle(old.claim, as: .complete(stale), timings: AttemptTimings())
            let id = try old.parsedRequest().thumbnailIDs()[0]
            let blob = try await fixture.store.thumbnail(id).blob
            #expect(try await fixture.store.data(of: blob) == Data("new".utf8))
            try await fixture.enqueue(1, from: 0)
            let third = try #require(try await fixture.claim().first)
            let newest = try Fixture.product(of: third, bytes: "newest", seen: 3, source: "newest")
            try await fixture.store.settle(third.claim, as: .complete(newest), timings: AttemptTimings())
            #expect(try await fixture.store.data(of: .thumbnail(id)) == Data("newest".utf8))
        },
        ConformanceCase("fetch numbers only grow, across all processes") { fixture in
            let other = try await fixture.another()
            var last: Int64 = 0
            for store in [fixture.store, other, fixture.store, other] {
                let next = try await store.nextSourceSeen()
                #expect(next > last)
                last = next
            }
        },
    ]

    static let joining = [
        ConformanceCase("sixteen concurrent requests for the same thumbnails become one job") { fixture in
            var stores = [fixture.store]
            for _ in 1..<16 { stores.append(try await fixture.another()) }
            let outcomes = try await withThrowingTaskGroup(of: EnqueueReceipt.self) { group in
                for store in stores { group.addTask { try await store.enqueue([Fixture.request(0)])[0] } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // One that lost may have taken the first id.
            #expect(Set(outcomes.map(\.id)).count == 1)
            #expect(outcomes.count { $0.outcome == .accepted } == 1)
        },
        ConformanceCase("a joining request raises the job and never changes its request") { fixture in
            try await fixture.enqueue { $0.runAt = fixture.clock.now + 60 }
            let before = try await fixture.store.job(1).request
            let receipt = try await fixture.store.enqueue([
                Fixture.request(0) {
                    $0.priority = 7
                    $0.refresh = .always
                    $0.batch = "b"
                }
            ])[0]
            #expect((receipt.outcome, receipt.id, receipt.state) == (.joined, 1, .available))
            let job = try await fixture.store.job(1)
            #expect((job.priority, job.request) == (7, before))
            #expect(try await fixture.store.batch("b").total == 1)
            #expect(try await fixture.claim().first?.parsedRequest().refresh == .always)
        },
        ConformanceCase("a job that must wait again is superseded by one waiting for the same thumbnails") { fixture in
            try await fixture.enqueue()
            let job = try #require(try await fixture.claim().first)
            try await fixture.enqueue(1, from: 0)
            let end = AttemptEnd.retry(Fixture.failure, at: fixture.clock.now)
            let ended = try await fixture.store.settle(job.claim, as: end, timings: AttemptTimings())
            #expect(ended?.supersededBy == 2)
            let first = try await fixture.store.job(1)
            #expect((first.state, first.supersededBy) == (.cancelled, 2))
            #expect(try await fixture.store.places(of: [1]) == [1: JobPlace(job: 2, state: .available)])
        },
        ConformanceCase("no job is created if fresh thumbnails already exist") { fixture in
            let request = Fixture.request(0) { $0.refresh = .never }
            _ = try await fixture.store.enqueue([request])
            try await fixture.complete(try #require(try await fixture.claim().first))
            let receipt = try await fixture.store.enqueue([request])[0]
            #expect((receipt.outcome, receipt.id) == (.fresh, nil))
        },
    ]

    static let limiting = [
        ConformanceCase("a queue's limit applies across all workers") { fixture in
            try await fixture.enqueue(5)
            try await fixture.store.limit(queue: "default", to: 2, unknown: .refused)
            let jobs = try await fixture.claim(9)
            try #require(jobs.count == 2)
            #expect(try await fixture.another().claim(limit: 9, kind: .usual, queues: nil, for: "w2").isEmpty)
            try await fixture.complete(jobs[0])
            #expect(try await fixture.claim(9).count == 1)
            try await fixture.store.limit(queue: "default", to: nil, unknown: .created)
            #expect(try await fixture.claim(9).count == 2)
        },
        ConformanceCase("jobs of a full key never block others") { fixture in
            try await fixture.enqueue(50) {
                $0.concurrencyKey = "tenant"
                $0.concurrencyLimit = 2
                $0.priority = 9
            }
            try await fixture.enqueue(1, from: 50)
            let jobs = try await fixture.claim(9)
            try #require(jobs.map(\.claim.jobID) == [1, 2, 51])
            _ = try await fixture.store.settle(jobs[0].claim, as: .release, timings: AttemptTimings())
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [1])
            #expect(try await fixture.store.limit(key: "tenant", to: 3))
            #expect(try await fixture.claim(9).map(\.claim.jobID) == [3])
        },
        ConformanceCase("a rate limits job starts across all workers") { fixture in
            try await fixture.enqueue(30)
            try await fixture.store.limit(
                queue: "default",
                toRate: StartRate(count: 10, period: 1_000),
                unknown: .refused
            )
            #expect(try await fixture.claim(30).count == 10)
            let other = try await fixture.another()
            #expect(try await other.claim(limit: 9, kind: .usual, queues: nil, for: "w2").isEmpty)
            fixture.clock.advance(seconds: 0.2)
            #expect(try await other.claim(limit: 9, kind: .usual, queues: nil, for: "w2").count == 2)
            fixture.clock.advance(seconds: 5)
            #expect(try await fixture.claim(30).count == 10)
        },
    ]
}

extension Fixture {
    /// Has a worker claim a job and leave it to others, and lets the time pass for which it then waits.
    fileprivate func leave(
        _ worker: String,
        _ unable: HostUnable = HostUnable(.writing(.avif), for: "a.jpg")
    ) async throws -> End? {
        let job = try #require(try await store.claim(limit: 1, for: worker).first)
        #expect(job.attempt == 1 && job.begun.isFirstAttempt, "the attempts before are not counted")
        let end = AttemptEnd.leave(unable, until: clock.now + 1)
        let ended = try await store.settle(job.claim, as: end, timings: AttemptTimings())
        clock.advance(seconds: 1)
        return ended
    }
}
