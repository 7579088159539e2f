import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    /// Deduplication: requests for the same thumbnails share one waiting job.
    static let sharing: [ConformanceCase] = [
        ConformanceCase("lower priority and later time change nothing") { fixture in
            let first = try await fixture.enqueueDuplicate { $0.priority = 3 }
            let receipt = try await fixture.enqueueDuplicate {
                $0.priority = -3
                $0.runAt = fixture.clock.now.addingTimeInterval(600)
            }
            #expect((receipt.outcome, receipt.availableAt) == (.joined, first.availableAt))
            #expect(try await fixture.store.job(1).priority == 3)
        },
        ConformanceCase("a unique key joins whatever is requested") { fixture in
            let first = try await fixture.enqueueDuplicate { $0.uniqueKey = "avatar-7" }
            let receipt = try await fixture.enqueueDuplicate {
                $0.uniqueKey = "avatar-7"
                $0.source = "file:///pictures/other.jpg"
            }
            #expect(receipt.outcome == .joined)
            #expect(receipt.thumbnails == first.thumbnails, "the thumbnails that will be made")
        },
        ConformanceCase("joining takes the more thorough refresh") { fixture in
            for refresh in [Refresh.ifChanged, .always, .never] {
                _ = try await fixture.enqueueDuplicate { $0.refresh = refresh }
            }
            let job = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
            #expect(try job.parsedRequest().refresh == .always)
            let written = try ThumbnailRequest(parsing: job.request.utf8)
            #expect(written.refresh == .ifChanged, "a request is never rewritten")
        },
        ConformanceCase("two processes that enqueue the same hundreds share them") { fixture in
            // Too many to lock their keys: the index decides, and the loser joins.
            let requests = (0..<300).map { Fixture.request("file:///\($0)") }
            let (first, second) = (try await fixture.another(), try await fixture.another())
            async let one = first.enqueue(requests)
            async let other = second.enqueue(Array(requests.reversed()))
            let (receipts, others) = (try await one, Array(try await other.reversed()))
            #expect(receipts.map(\.id) == others.map(\.id))
            #expect(zip(receipts, others).allSatisfy { Set([$0.outcome, $1.outcome]) == [.accepted, .joined] })
            #expect(try await fixture.sql("SELECT count(*) FROM job") == "300")
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("requests of one call for the same thumbnails share a job") { fixture in
            let receipts = try await fixture.store.enqueue([
                Fixture.request(), Fixture.request("file:///b"), Fixture.request { $0.priority = 4 },
            ])
            #expect(receipts.map(\.id) == [1, 2, 1])
            #expect(receipts.map(\.outcome) == [.accepted, .accepted, .joined])
            #expect(try await fixture.store.job(1).priority == 4)
        },
    ]

    static let sharingVaried: [ConformanceCase] =
        [JobState.scheduled, .available, .retryable].map(aRequestJoinsAWaitingJob)
        + [JobState.running, .completed, .discarded, .cancelled].map(aRunningOrEndedJobIsNotJoined)
        + ["priority", "time"].map(aJoinedJobMovesToItsNewRank)
        + [
            ("source", false), ("queue", false), ("size", false), ("headers", false), ("key", false),
            ("name", true), ("order", true), ("metadata", true), ("timeout", true), ("data", true),
        ]
        .map { queueAndThumbnailsDecideWhatIsTheSame($0, $1) }

    private static let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")

    private static func aRequestJoinsAWaitingJob(_ state: JobState) -> ConformanceCase {
        ConformanceCase("a request joins a waiting job: \(state)") { fixture in
            let later = fixture.clock.now.addingTimeInterval(60)
            _ = try await fixture.enqueueDuplicate { if state == .scheduled { $0.runAt = later } }
            if state == .retryable {
                let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
                try await fixture.store.fail(job.claim, with: failure, retryAt: later)
            }
            #expect(try await fixture.store.job(1).state == state)
            let receipt = try await fixture.enqueueDuplicate {
                $0.priority = 7
                $0.batch = "second"
            }
            #expect((receipt.outcome, receipt.id) == (.joined, 1))
            let job = try await fixture.store.job(1)
            #expect(job.priority == 7)
            // A back-off protects the source, so joining does not shorten it.
            #expect(
                (job.state, job.availableAt == later) == (
                    state == .retryable ? .retryable : .available, state == .retryable
                )
            )
            #expect(try await fixture.store.batch("second").total == 1)
            #expect(try await fixture.store.jobs(JobFilter()).count == 1)
        }
    }

    private static func aRunningOrEndedJobIsNotJoined(_ state: JobState) -> ConformanceCase {
        ConformanceCase("a running or ended job is not joined: \(state)") { fixture in
            _ = try await fixture.enqueueDuplicate()
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            switch state {
            case .completed:
                try await fixture.store.complete(job.claim, keeping: [], seen: nil)
            case .discarded:
                try await fixture.store.fail(job.claim, with: failure)
            case .cancelled: _ = try await fixture.store.cancel(1)
            default: break
            }
            #expect(try await fixture.store.job(1).state == state)
            let receipt = try await fixture.enqueueDuplicate()
            #expect((receipt.outcome, receipt.id) == (.accepted, 2))
        }
    }

    private static func aJoinedJobMovesToItsNewRank(_ what: String) -> ConformanceCase {
        ConformanceCase("a joined job moves to its new rank: \(what)") { fixture in
            let now = fixture.clock.now
            _ = try await fixture.enqueueDuplicate { if what == "time" { $0.runAt = now.addingTimeInterval(600) } }
            fixture.clock.advance(seconds: 60)
            try await fixture.enqueue { $0.priority = 2 }
            _ = try await fixture.enqueueDuplicate { if what == "priority" { $0.priority = 2 } }
            if what == "time" {
                // It comes before a job that arrives three minutes later with that priority.
                fixture.clock.advance(seconds: 180)
                try await fixture.enqueue { $0.priority = 2 }
            }
            let order = try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID)
            #expect(order == (what == "time" ? [2, 1, 3] : [1, 2]))
        }
    }

    private static func queueAndThumbnailsDecideWhatIsTheSame(_ difference: String, _ joins: Bool) -> ConformanceCase {
        ConformanceCase("queue and thumbnails decide what is the same: \(difference), \(joins)") { fixture in
            let pixel = "data:image/png;base64,iVBORw0KGgo="
            let renditions = [Rendition(width: 64), Rendition(width: 128)]
            _ = try await fixture.enqueueDuplicate { request in
                request.renditions = renditions
                if difference == "data" { request.source = pixel }
            }
            let receipt = try await fixture.enqueueDuplicate { request in
                request.renditions = renditions
                switch difference {
                case "source": request.source = "file:///pictures/b.jpg"
                case "queue": request.queue = "other"
                case "size": request.renditions[1].width = 129
                case "headers": request.headers = ["Cookie": "tenant=2"]
                case "key": request.uniqueKey = "mine"
                case "name": request.renditions[0].name = "small"
                case "order": request.renditions.reverse()
                case "metadata": request.metadata = ["a": .integer(1)]
                case "timeout": request.timeout = 5
                default: request.source = pixel.replacing("image/png", with: "application/octet-stream")
                }
            }
            #expect((receipt.outcome == .joined) == joins)
            #expect(receipt.thumbnails.map(\.name).count == 2)
        }
    }
}
