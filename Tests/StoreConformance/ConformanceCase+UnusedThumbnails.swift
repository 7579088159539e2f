import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    /// The retention of unused thumbnails.
    static let unused: [ConformanceCase] = [
        ConformanceCase("a thumbnail expires and its blob is collected") { fixture in
            let id = try await fixture.makeThumbnail()
            fixture.clock.advance(seconds: 10 * Fixture.day + Self.hour)
            let prunable = try await fixture.store.prunable(Fixture.tenDays)
            #expect(prunable.isEmpty, "its retention and one step must be over")
            fixture.clock.advance(seconds: 0.001)
            #expect(try await fixture.store.prunable(Fixture.tenDays).thumbnails == 1)
            #expect(try await fixture.isThere(id), "prunable removes nothing")
            #expect(try await fixture.prune(.forever).thumbnails == 0)
            let pruned = try await fixture.prune(Fixture.tenDays)
            #expect((pruned.thumbnails, pruned.jobs) == (1, 0))
            await #expect(throws: StoreError.notFound(uri: CameoURI.thumbnail(id).text)) {
                try await fixture.store.thumbnail(id)
            }
            #expect(try await fixture.store.status().thumbnails == 0)
            // The trigger that records when a blob was orphaned uses the machine's clock, far behind the test's.
            #expect((pruned.blobs, try await fixture.store.status().blobs.count) == (1, 0))
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("no thumbnail expires before reads have been recorded for as long") { fixture in
            // Before reads were recorded, any thumbnail may have been read at any time.
            try await fixture.makeThumbnail()
            fixture.clock.advance(seconds: 11 * Fixture.day)
            let since = fixture.clock.now.addingTimeInterval(-10 * Fixture.day)
            _ = try await fixture.sql("UPDATE epoch SET since = \(since.milliseconds)")
            #expect(try await fixture.prune(Fixture.tenDays).isEmpty)
            fixture.clock.advance(seconds: 2 * Self.hour)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 1)
        },
        ConformanceCase("the job of an expired thumbnail is still completed and names it") { fixture in
            // The job is unchanged and names thumbnails that no longer exist, like a waiting job or after `forget`.
            let id = try await fixture.makeThumbnail()
            fixture.clock.advance(seconds: 11 * Fixture.day)
            try await fixture.prune(Fixture.tenDays)
            let job = try await fixture.store.job(1)
            #expect(job.state == .completed)
            #expect(job.thumbnails.map(\.uri) == [.thumbnail(id)])
            #expect(job.thumbnails.allSatisfy { $0.blob == nil && $0.width == nil })
            #expect(try await fixture.sql("SELECT state FROM job_status") == "completed")
            let seen = try JSONValue(parsing: try await fixture.sql("SELECT thumbnails FROM job_status"))
            guard case .array(let thumbnails) = seen, case .object(let thumbnail)? = thumbnails.first else {
                Issue.record("\(seen)")
                return
            }
            #expect(thumbnail["uri"] == .string("cameo://thumb/\(id)"))
            #expect([nil, .null].contains(thumbnail["blob"]))
        },
        ConformanceCase("a job report or a read-only store does not count as a read") { fixture in
            let id = try await fixture.makeThumbnail()
            fixture.clock.advance(seconds: 9 * Fixture.day)
            _ = try await fixture.store.job(1)
            _ = try await fixture.store.thumbnail(id)
            let reader = try await fixture.reader()
            #expect(try await reader.data(of: .thumbnail(id)) == Data("thumbnail of file:///pictures/a.jpg".utf8))
            reader.noteReading(of: .thumbnail(id))
            try await fixture.engine.recordReadings(of: reader)
            fixture.clock.advance(seconds: 2 * Fixture.day)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 1)
        },
        ConformanceCase("a thumbnail that a job references by blob is kept too") { fixture in
            let id = try await fixture.makeThumbnail()
            let blob = try await fixture.store.thumbnail(id).blob
            let job = try #require(
                try await fixture.store.enqueue([Fixture.request("file:///b.jpg", overlay: .blob(blob))]).first?.id
            )
            fixture.clock.advance(seconds: 100 * Fixture.day)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 0)
            _ = try await fixture.store.cancel(job)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 1)
        },
        ConformanceCase("pruning removes in small transactions, beyond thumbnails that are needed") { fixture in
            let first = try await fixture.makeThumbnail()
            try await fixture.insertThumbnails(1_250, like: first)
            try await fixture.enqueue()
            try await fixture.sql("INSERT INTO ingredient SELECT id, 2 FROM thumbnail ORDER BY id LIMIT 1000")
            fixture.clock.advance(seconds: 11 * Fixture.day)
            var steps: [Int] = []
            #expect(try await fixture.store.prunable(Fixture.tenDays).thumbnails == 251)
            let pruned = try await fixture.prune(Fixture.tenDays) { steps.append($0.thumbnails) }
            #expect(pruned.thumbnails == 251)
            #expect(steps.allSatisfy { $0 <= 100 } && steps.count >= 3, "\(steps)")
            #expect(try await fixture.store.status().thumbnails == 1_000)
        },
    ]

    static let unusedVaried: [ConformanceCase] =
        [Refresh.never, .ifChanged].map(aNewRequestMakesItAgain)
        + ThumbnailUse.allCases.map(aUseRestartsTheRetention)
        + [JobState.scheduled, .available, .running, .retryable].flatMap { state in
            [false, true].map { inputsOfAJobAreKeptUntilItEnds(state, $0) }
        }
        + ["cameo://thumb/", #"cameo:\/\/thumb\/"#, "CAMEO://Thumb/"].map(aProducersJobKeepsItsInputs)
        + [false, true].map(aThumbnailNeededMeanwhileIsKept)

    private static let hour = 3_600.0

    private static func aNewRequestMakesItAgain(_ refresh: Refresh) -> ConformanceCase {
        ConformanceCase("a new request makes an expired thumbnail again: \(refresh)") { fixture in
            // `initials:` cannot change, so even with `if-changed` the first answer would be `fresh`.
            let id = try await fixture.makeThumbnail(of: "initials:AB")
            fixture.clock.advance(seconds: 11 * Fixture.day)
            try await fixture.prune(Fixture.tenDays)
            let request = Fixture.request("initials:AB") { $0.refresh = refresh }
            let receipt = try #require(try await fixture.store.enqueue([request]).first)
            #expect(receipt.outcome == .accepted)
            #expect(try await !fixture.store.have([id], as: nil), "its worker will not find an existing one")
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.complete(job)
            #expect(try await fixture.isThere(id))
            #expect(try await fixture.store.enqueue([request]).first?.outcome == .fresh)
        }
    }

    private static func aUseRestartsTheRetention(_ use: ThumbnailUse) -> ConformanceCase {
        ConformanceCase("a use restarts the retention: \(use)") { fixture in
            let id = try await fixture.makeThumbnail()
            fixture.clock.advance(seconds: 9 * Fixture.day)
            try await fixture.use(id, use)
            fixture.clock.advance(seconds: 10 * Fixture.day)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 0)
            #expect(try await fixture.isThere(id))
            fixture.clock.advance(seconds: Self.hour + 1)
            _ = try await fixture.prune(Fixture.tenDays)
            #expect(try await !fixture.isThere(id))
        }
    }

    private static func inputsOfAJobAreKeptUntilItEnds(_ state: JobState, _ isOverlay: Bool) -> ConformanceCase {
        ConformanceCase("inputs of a job are kept until it ends: \(state), \(isOverlay)") { fixture in
            // The states of a job that needs the thumbnail. It has waited a hundred days, and may wait a hundred more.
            let id = try await fixture.makeThumbnail()
            let name = CameoURI.thumbnail(id)
            var request = isOverlay ? Fixture.request("file:///b.jpg", overlay: name) : Fixture.request(name.text)
            let later = fixture.clock.now.addingTimeInterval(1_000 * Fixture.day)
            if state == .scheduled { request.runAt = later }
            let job = try #require(try await fixture.store.enqueue([request]).first?.id)
            if state == .running || state == .retryable {
                let claim = try #require(try await fixture.store.claim(limit: 1, for: "w1").first).claim
                let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
                if state == .retryable {
                    try await fixture.store.fail(claim, with: failure, retryAt: later)
                }
            }
            #expect(try await fixture.store.job(job).state == state)
            fixture.clock.advance(seconds: 100 * Fixture.day)
            #expect(try await fixture.store.prunable(Fixture.tenDays).thumbnails == 0)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 0)
            #expect(try await fixture.isThere(id))
            _ = try await fixture.store.cancel(job)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 1)
        }
    }

    private static func aProducersJobKeepsItsInputs(_ prefix: String) -> ConformanceCase {
        ConformanceCase("a producer's job keeps its inputs: \(prefix)") { fixture in
            // A producer may spell the scheme in any case and write JSON as its library does.
            let id = try await fixture.makeThumbnail()
            _ = try await fixture.sql(
                #"INSERT INTO job(request) VALUES ('{"source":"\#(prefix)\#(id)","renditions":[{"width":8}]}')"#
            )
            fixture.clock.advance(seconds: 100 * Fixture.day)
            #expect(try await fixture.prune(Fixture.tenDays).thumbnails == 0)
            #expect(try await fixture.isThere(id))
        }
    }

    private static func aThumbnailNeededMeanwhileIsKept(_ asSource: Bool) -> ConformanceCase {
        ConformanceCase("a thumbnail needed meanwhile is kept: \(asSource)") { fixture in
            // Both happen between the scan, which found all, and the transaction that would remove the last one.
            let first = try await fixture.makeThumbnail()
            fixture.clock.advance(seconds: 1)
            try await fixture.insertThumbnails(99, like: first)
            fixture.clock.advance(seconds: 1)
            let last = try await fixture.makeThumbnail(of: "file:///last.jpg")
            fixture.clock.advance(seconds: 11 * Fixture.day)
            let request =
                asSource
                ? Fixture.request(CameoURI.thumbnail(last).text)
                : Fixture.request("file:///last.jpg") { $0.refresh = .never }
            var outcome: EnqueueReceipt.Outcome?
            let pruned = try await fixture.prune(Fixture.tenDays) { step in
                guard step.thumbnails == 100 else { return }
                outcome = try? await fixture.store.enqueue([request]).first?.outcome
            }
            #expect(outcome == (asSource ? .accepted : .fresh))
            #expect(pruned.thumbnails == 100)
            #expect(try await fixture.isThere(last))
        }
    }
}

/// The ways to use a thumbnail.
private enum ThumbnailUse: CaseIterable {
    case readByItsName, readByItsBlob, answeredFresh, keptAsItWas, keptOfTheSameBytes, madeAnew, sourceOfAJob
    case overlayOfAJob
}

extension Fixture {
    fileprivate func use(_ id: ThumbnailID, _ use: ThumbnailUse) async throws {
        switch use {
        case .readByItsName:
            store.noteReading(of: .thumbnail(id))
            try await engine.recordReadings(of: store)
        case .readByItsBlob:
            store.noteReading(of: .blob(try await store.thumbnail(id).blob))
            // Like a program that is about to exit.
            await store.finish()
        case .answeredFresh:
            let receipt = try await store.enqueue([Self.request { $0.refresh = .never }]).first
            #expect(receipt?.outcome == .fresh)
        case .keptAsItWas: try await keepThumbnails([id], seen: nil)
        case .keptOfTheSameBytes:
            let provenance = try Self.provenance()
            let seen = Revalidation(
                sourceDigest: provenance.sourceDigest,
                overlayDigests: [nil],
                sourceSeen: 2,
                rendererVersion: provenance.rendererVersion
            )
            try await keepThumbnails([id], seen: seen)
        case .madeAnew: try await makeThumbnail { $0.refresh = .always }
        case .sourceOfAJob: try await begin(Self.request(CameoURI.thumbnail(id).text))
        case .overlayOfAJob: try await begin(Self.request("file:///b.jpg", overlay: .thumbnail(id)))
        }
    }

    fileprivate func keepThumbnails(_ ids: [ThumbnailID], seen: Revalidation?) async throws {
        _ = try await store.enqueue([Self.request { $0.refresh = .always }])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        try await store.complete(job.claim, keeping: ids, seen: seen)
    }

    /// Begins a job and cancels it, so that only the read itself keeps its inputs.
    fileprivate func begin(_ request: ThumbnailRequest) async throws {
        _ = try await store.enqueue([request])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        _ = try await store.beginFetch(job.claim, of: request)
        _ = try await store.cancel(job.claim.jobID)
    }

    fileprivate static func request(_ source: String, overlay: CameoURI) -> ThumbnailRequest {
        request(source) { $0.renditions[0].look.overlay = Rendition.Overlay(source: overlay.text) }
    }
}
