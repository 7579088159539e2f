import CameoModel
import CameoStore
import CameoSystem
import Foundation
import Synchronization
import TestSupport
import Testing

extension ConformanceCase {
    static let losing = [
        ConformanceCase("a dead worker's jobs become available; the death counts, the attempt does not") { fixture in
            try await fixture.register("w1")
            try await fixture.enqueue(2)
            let jobs = try await fixture.claim(2)
            try await fixture.engine.kill("w1", in: fixture.store)
            let report = try await fixture.rescue("w1")
            #expect(report.rescued == 2)
            let job = try await fixture.store.job(1)
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 1))
            #expect(job.attempts?.map(\.outcome) == [.interrupted])
            await expectLeaseLost(jobs[0]) { try await fixture.complete(jobs[0]) }
        },
        ConformanceCase("a worker silent beyond its lease loses its jobs, which are not blamed") {
            fixture in
            try await fixture.register("w1")
            try await fixture.enqueue()
            _ = try await fixture.claim()
            fixture.clock.advance(seconds: fixture.store.lease.seconds - 1)
            #expect(try await fixture.store.rescueExpired(except: nil).workers.isEmpty)
            fixture.clock.advance(seconds: 2)
            #expect(try await fixture.store.rescueExpired(except: nil).rescued == 1)
            #expect(try await fixture.store.job(1).crashCount == 0)
        },
        ConformanceCase("a poison job runs alone and is finally discarded") { fixture in
            try await fixture.enqueue()
            for death in 1...ClaimKind.discardAfterCrashes {
                let worker = "w\(death)"
                try await fixture.register(worker)
                let kind: ClaimKind = death > ClaimKind.poisonAfterCrashes ? .poison : .usual
                #expect(try await fixture.claim(1, kind, for: worker).count == 1)
                try await fixture.engine.kill(worker, in: fixture.store)
                let report = try await fixture.rescue(worker)
                let isLast = death == ClaimKind.discardAfterCrashes
                #expect((report.rescued, report.discarded.map(\.id)) == (isLast ? (0, [1]) : (1, [])))
            }
            let job = try await fixture.store.job(1)
            #expect((job.state, job.failure?.code) == (.discarded, .workerLost))
            #expect((job.crashCount, job.attempts?.count) == (6, 6))
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a worker that deregisters releases its jobs") { fixture in
            try await fixture.register("w1")
            try await fixture.enqueue()
            _ = try await fixture.claim()
            try await fixture.store.deregister("w1")
            let job = try await fixture.store.job(1)
            #expect((job.state, job.attempt, job.crashCount) == (.available, 0, 0))
            #expect(job.attempts?.map(\.outcome) == [.released])
        },
    ]

    static let operating = [
        ConformanceCase("a filter changes many jobs at once") { fixture in
            try await fixture.enqueue(3) { $0.queue = "a" }
            try await fixture.enqueue(2, from: 3) { $0.queue = "b" }
            var filter = JobFilter()
            (filter.queue, filter.limit) = ("a", 100)
            let progress = try await fixture.store.change(filter, by: .cancel)
            #expect((progress.matched, progress.changed) == (3, 3))
            let report = try await fixture.store.status()
            #expect((report.count(.cancelled), report.count(.available)) == (3, 2))
            filter.states = [.cancelled]
            #expect(try await fixture.store.jobs(filter).map(\.id) == [3, 2, 1])
        },
        ConformanceCase("retention removes ended jobs by state and age") { fixture in
            try await fixture.enqueue(3)
            try await fixture.complete(try #require(try await fixture.claim().first))
            _ = try await fixture.store.cancel(2)
            fixture.clock.advance(seconds: 8 * 86_400)
            let turn = try #require(try await fixture.store.maintenanceTurn(within: .seconds(600)))
            var retention = Retention()
            retention.cancelled = nil
            #expect(try await fixture.store.prunable(retention).completed == 1)
            #expect(try await fixture.store.prune(retention, in: turn).completed == 1)
            await #expect(throws: StoreError.noSuchJob(1)) { _ = try await fixture.store.job(1) }
            #expect(try await fixture.state(of: 2) == .cancelled)
            #expect(try await fixture.state(of: 3) == .available)
            let uri = CameoURI.thumbnail(try Fixture.request(0).thumbnailIDs()[0])
            #expect(try await fixture.store.data(of: uri) == Data("thumbnail".utf8), "thumbnails stay")
        },
    ]

    static let keeping = [
        ConformanceCase("blobs of any size are named by their digest") { fixture in
            for size in [1, 102_400, 102_401, 1_000_000] {
                let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                let digest = try await fixture.store.store(data, mediaType: "image/png")
                #expect(digest == BlobDigest(of: data))
                #expect(try await fixture.another().data(of: digest) == data)
                #expect(try await fixture.store.data(of: CameoURI.blob(digest)) == data)
                switch try await fixture.another().bytes(of: digest) {
                case .inMemory(let bytes): #expect(bytes == data)
                case .file(let file, let count):
                    #expect(count == size)
                    let handle = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
                    #expect(try handle.readToEnd() == data)
                    withExtendedLifetime(file) {}
                }
                #expect(try await fixture.store.store(data, mediaType: "text/plain") == digest)
                #expect(try await fixture.store.mediaType(of: digest) == "image/png", "the first one stays")
                let terms = TemporaryURLTerms(lifetime: .seconds(60))
                #expect(try await fixture.store.temporaryURL(of: digest, on: terms) == nil, "it is in the store itself")
            }
            let unknown = BlobDigest(of: Data("nobody's".utf8))
            await #expect(throws: StoreError.notFound(uri: CameoURI.blob(unknown).text)) {
                _ = try await fixture.store.data(of: unknown)
            }
        }
    ]

    static let backfilling = [
        ConformanceCase("known sources come in pages, with their thumbnails") { fixture in
            try await fixture.enqueue(5) { $0.renditions.append(Rendition(width: 32)) }
            let jobs = try await fixture.claim(5)
            for job in jobs { try await fixture.complete(job) }
            var (found, cursor, pages) = ([KnownSource](), String?.none, 0)
            repeat {
                let page = try await fixture.another().knownSources(KnownSourceSelection(), after: cursor, limit: 2)
                found += page.sources
                (cursor, pages) = (page.next, pages + 1)
            } while cursor != nil && pages < 10
            #expect(found.map(\.source) == (0..<5).map { "file:///pictures/\($0).jpg" } && pages == 3)
            #expect(found.allSatisfy { !$0.isGone && $0.thumbnails.count == 2 })
            for (source, job) in zip(found, jobs) {
                #expect(try Set(source.thumbnails.map(\.id)) == Set(job.parsedRequest().thumbnailIDs()))
            }
            let thumbnail = try #require(found.first?.thumbnails.first)
            #expect(thumbnail.rendererVersion == "test-1" && thumbnail.isIntact)
            _ = try Rendition(json: JSONValue(parsing: thumbnail.rendition), at: "")
            #expect(try await fixture.store.removeThumbnails([thumbnail.id, thumbnail.id]) == 1)
            #expect(try await !fixture.store.have([thumbnail.id], as: nil))
        },
        ConformanceCase("a request that needs a job is not answered by thumbnails, and joins a running job") {
            fixture in
            let request = Fixture.request(0) { $0.refresh = .never }
            _ = try await fixture.store.enqueue([request])
            try await fixture.complete(try #require(try await fixture.claim().first))
            #expect(try await fixture.store.enqueue([request])[0].outcome == .fresh)
            var needed = try CheckedRequest(request)
            needed.needsJob = true
            #expect(try await fixture.store.enqueue([needed])[0].outcome == .accepted)
            #expect(try await fixture.store.enqueue([needed])[0].outcome == .joined)
            #expect(try await fixture.claim().map(\.claim.jobID) == [2])
            let joined = try await fixture.store.enqueue([needed])[0]
            #expect((joined.outcome, joined.id, joined.state) == (.joined, 2, .running))
        },
    ]

    static let following = [
        ConformanceCase("every state change is in the feed once, in order, for every process") { fixture in
            try await fixture.enqueue(2) { ($0.queue, $0.batch) = ("bulk", "b") }
            let start = try await fixture.store.lastChange()
            let job = try #require(try await fixture.claim().first)
            try await fixture.complete(job)
            _ = try await fixture.store.cancel(2)
            let changes = try await fixture.another().changes(since: start, limit: 100)
            try #require(changes.map(\.job) == [1, 1, 2])
            #expect(changes.map(\.state) == [.running, .completed, .cancelled])
            #expect(changes.map(\.cursor) == changes.map(\.cursor).sorted())
            #expect(changes.allSatisfy { $0.queue == "bulk" && $0.batches == ["b"] })
            let rest = try await fixture.store.changes(since: changes[0].cursor, limit: 1)
            #expect(rest == [changes[1]])
            #expect(try await fixture.store.lastChange() == changes[2].cursor)
        },
        commitsWake("whoever waits") { store in store.wakeUps { .milliseconds(2) } },
        commitsWake("those who wait for work") { store in store.wakeUpsOfWork { .milliseconds(2) } },
    ]

    private static func commitsWake(
        _ name: String,
        _ wakeUps: @escaping @Sendable (any Store) -> AsyncStream<Void>
    ) -> ConformanceCase {
        ConformanceCase("commits of other processes wake \(name)") { fixture in
            let wakeUps = wakeUps(fixture.store)
            let count = Mutex(0)
            let listening = Task { for await _ in wakeUps { count.withLock { $0 += 1 } } }
            defer { listening.cancel() }
            try await eventually("a wake-up at the start") { count.withLock { $0 } > 0 }
            let other = try await fixture.another()
            // A wake-up may belong to an earlier commit, so this waits for each of several.
            for number in 0..<3 {
                let before = count.withLock { $0 }
                _ = try await other.enqueue([Fixture.request(number)])
                try await eventually("a wake-up after commit \(number)") { count.withLock { $0 } > before }
            }
        }
    }
}
