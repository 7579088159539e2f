import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    static let settlements: [ConformanceCase] = [
        ConformanceCase("under a newer version what has begun goes on, and its worker's jobs are rescued") { fixture in
            try await fixture.register()
            try await fixture.enqueue(2) { $0.hook = "site" }
            let jobs = try await fixture.claim(2)
            try await fixture.complete(jobs[0])
            let delivery = try #require(
                try await fixture.store.claimDeliveries(["site": 1], for: "w1").first
            )
            let source = Fixture.original(Fixture.bytes("a"))
            try await fixture.store.keep(source, data: Fixture.bytes("a"), budget: nil)
            try await fixture.engine.takeOver(fixture.store)
            try await fixture.store.settle(delivery, as: .delivered)
            #expect(try await fixture.store.freshen(source))
            fixture.clock.advance(seconds: 61)
            try await fixture.store.touch(source)
            let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
            let until = fixture.clock.now.addingTimeInterval(60)
            let key = SourceKey(uri: "https://example.com/b", scope: nil)
            try await fixture.store.remember(failure, of: key, until: until, seen: 2, peers: [])
            try await fixture.store.dropCachedSource(source)
            try await fixture.keep("b", seen: 3)
            try await fixture.engine.kill("w1", in: fixture.store)
            #expect(try await fixture.rescue("w1").workers == ["w1"])
            #expect(try await fixture.state(of: 2) == .available)
            await #expect(throws: StoreError.self) { try await fixture.enqueue() }
        },
        ConformanceCase("only the live claim absorbs an upload") { fixture in
            try await fixture.upload(Data([1]), #"{"renditions":[{"width":64}]}"#)
            let first = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.release(first.claim)
            let second = try #require(try await fixture.store.claim(limit: 1, for: "w2").first)
            await #expect(throws: StoreError.leaseLost(jobID: 1)) { try await fixture.store.absorbUpload(first) }
            let request = try await fixture.store.absorbUpload(second)
            #expect(request.source == CameoURI.blob(BlobDigest(of: Data([1]))).text)
        },
        ConformanceCase("a job is not completed by a missing thumbnail") { fixture in
            let job = try await claimOne(fixture)
            let ids = try ThumbnailRequest(parsing: job.request.utf8).thumbnailIDs()
            await #expect(throws: StoreError.notFound(uri: CameoURI.thumbnail(ids[0]).text)) {
                try await fixture.store.complete(job.claim, keeping: ids, seen: nil)
            }
            #expect(try await fixture.store.job(1).state == .running)
        },
        ConformanceCase("what the store refuses is recorded and not charged") { fixture in
            let job = try await claimOne(fixture)
            let failure = JobFailure(.storeRefused, at: .store, "s3://bucket denies access")
            let time = fixture.clock.storeClock.now() + 30
            _ = try await fixture.store.settle(job.claim, as: .retry(failure, at: time), timings: AttemptTimings())
            let waiting = try await fixture.store.job(job.claim.jobID)
            #expect((waiting.state, waiting.attempt, waiting.availableAt) == (.retryable, 0, time))
            #expect(waiting.attempts?.map(\.failure) == [failure])
            fixture.clock.advance(seconds: 31)
            let again = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            #expect(again.attempt == 1 && again.previousFailure == failure)
            let later = time + 60
            _ = try await fixture.store.settle(again.claim, as: .retry(failure, at: later), timings: AttemptTimings())
            let resting = try await fixture.store.job(job.claim.jobID)
            #expect((resting.state, resting.attempt, resting.availableAt) == (.retryable, 0, later))
            #expect(resting.attempts?.count == 1, "it may be refused for days")
        },
        ConformanceCase("a manual retry starts over and keeps the history") { fixture in
            let job = try await claimOne(fixture)
            let failure = JobFailure(.imageCorrupt, at: .render, "cut off")
            try await fixture.store.fail(job.claim, with: failure)
            try await fixture.sql("UPDATE outcome SET crash_count = 5")
            #expect(try await fixture.store.retry(job.claim.jobID).before == .discarded)
            let report = try await fixture.store.job(job.claim.jobID)
            #expect((report.state, report.attempt, report.crashCount) == (.available, 0, 0))
            #expect(report.finalizedAt == nil)
            #expect(report.attempts?.count == 1)
            let again = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await complete(again, fixture, from: Fixture.provenance())
            #expect(try await fixture.store.job(job.claim.jobID).attempts?.map(\.number) == [1, 2])
        },
        ConformanceCase("what an attempt cost is kept, however it ends") { fixture in
            var job = try await claimOne(fixture)
            var timings = AttemptTimings()
            timings.cpuMilliseconds = 1
            let failure = JobFailure(.renderCrashed, at: .render, "crashed")
            let retry = AttemptEnd.retry(failure, at: fixture.clock.now + 1)
            _ = try await fixture.store.settle(job.claim, as: retry, timings: timings)
            fixture.clock.advance(seconds: 2)
            job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            timings.cpuMilliseconds = 2
            _ = try await fixture.store.settle(job.claim, as: .discard(failure), timings: timings)
            #expect(try await fixture.store.job(job.claim.jobID).attempts?.map(\.cpuMilliseconds) == [1, 2])
            _ = try await fixture.store.retry(job.claim.jobID)
            job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            (timings.outputBytes, timings.cpuMilliseconds) = (7, 3)
            let product = JobProduct.rendered(try Fixture.rendered(job), try Fixture.provenance())
            try await fixture.store.settle(job.claim, as: .complete(product), timings: timings)
            let attempts = try await fixture.store.job(job.claim.jobID).attempts
            #expect(attempts?.map(\.cpuMilliseconds) == [1, 2, 3])
            #expect(attempts?.map(\.outputBytes) == [nil, nil, 7])
        },
        ConformanceCase("the first blob of the same source and renderer is kept") { fixture in
            let (first, second, third) = (
                try await claimOne(fixture), try await claimOne(fixture), try await claimOne(fixture)
            )
            try await complete(first, fixture, bytes: "first", from: Fixture.provenance(seen: 1))
            try await complete(second, fixture, bytes: "second", from: Fixture.provenance(seen: 2))
            #expect(try await bytes(fixture, first) == "first")
            #expect(try await fixture.store.status().blobs.count == 1)
            try await complete(third, fixture, bytes: "third", from: Fixture.provenance(seen: 3, version: "test-2"))
            #expect(try await bytes(fixture, first) == "third")
        },
        ConformanceCase("fetches are numbered in order") { fixture in
            let (first, second) = (try await claimOne(fixture), try await claimOne(fixture))
            let request = Fixture.request()
            let later = try await fixture.store.beginFetch(second.claim, of: request).sourceSeen
            let latest = try await fixture.store.beginFetch(first.claim, of: request).sourceSeen
            #expect(later < latest)
        },
        ConformanceCase("only the first fetch of a job is its first attempt") { fixture in
            var job = try await claimOne(fixture)
            let request = try ThumbnailRequest(parsing: job.request.utf8)
            #expect(try await fixture.store.beginFetch(job.claim, of: request).isFirstAttempt)
            try await complete(job, fixture, bytes: "first", from: Fixture.provenance(seen: 1))
            // The retry counts from 1 again; only the history shows that it is not the first.
            _ = try await fixture.store.retry(job.claim.jobID)
            job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            #expect(job.attempt == 1)
            #expect(try await !fixture.store.beginFetch(job.claim, of: request).isFirstAttempt)
        },
    ]

    static let settlementsVaried: [ConformanceCase] =
        [20, 200_000].map(completionAndThumbnailsAppearTogether)

    private static func claimOne(_ fixture: Fixture) async throws -> ClaimedJob {
        _ = try await fixture.store.enqueue([Fixture.request("file:///pictures/0.jpg")])
        return try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
    }

    private static func complete(
        _ job: ClaimedJob,
        _ fixture: Fixture,
        bytes: String = "thumbnail",
        from provenance: Provenance
    ) async throws {
        try await fixture.store.settle(
            job.claim,
            as: .complete(.rendered(try Fixture.rendered(job, bytes: Data(bytes.utf8)), provenance)),
            timings: AttemptTimings()
        )
    }

    private static func bytes(_ fixture: Fixture, _ job: ClaimedJob) async throws -> String {
        let id = try #require(try ThumbnailRequest(parsing: job.request.utf8).thumbnailIDs().first)
        return String(decoding: try await fixture.store.data(of: .thumbnail(id)), as: UTF8.self)
    }

    private static func completionAndThumbnailsAppearTogether(_ size: Int) -> ConformanceCase {
        ConformanceCase("completion and thumbnails appear together: \(size)") { fixture in
            let job = try await claimOne(fixture)
            try await complete(job, fixture, bytes: String(repeating: "x", count: size), from: Fixture.provenance())
            let report = try await fixture.store.job(job.claim.jobID)
            #expect(report.state == .completed)
            #expect(report.finalizedAt != nil)
            #expect(report.attempts?.map(\.outcome) == [.completed])
            #expect(report.thumbnails.map(\.bytes) == [size])
            #expect(try await bytes(fixture, job).count == size)
            let status = try await fixture.store.status()
            #expect(status.thumbnails == 1)
            #expect(status.blobs == StatusReport.Blobs(count: 1, bytes: size))
        }
    }
}
