import CacheConformance
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance

@testable import CameoWorker

/// A claimed job in a store of its own, and everything that settles its attempt. Time passes only in pauses.
struct SettlementBench {
    let bench: CacheBench
    let store: RefusingStore
    let time = FakeTime()
    let phase: WorkerPhase
    private let control: JobControl
    private let settler: Settler

    init(
        in bench: CacheBench? = nil,
        refusals: [StoreError] = [],
        request change: (inout ThumbnailRequest) -> Void = { _ in },
        configure: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws {
        let bench = try bench ?? CacheBench()
        self.bench = bench
        store = RefusingStore(bench.store, refusals: refusals)
        phase = WorkerPhase(time: time.worker)
        control = JobControl(try await bench.claim(change), claimedAt: time.now)
        var configuration = WorkerConfiguration()
        configuration.time = time.worker
        configuration.random = { 0.5 }
        configure(&configuration)
        settler = Settler(
            store: store,
            configuration: configuration,
            phase: phase,
            logger: bench.log.logger,
            control: control
        )
    }

    var job: ClaimedJob { control.job }
    var progress: AttemptProgress { control.progress }

    /// Settles the attempt; returns its outcome in words.
    func settle(
        _ result: Result<JobProduct, any Error>,
        stoppedFor reason: JobControl.StopReason? = nil
    ) async -> String {
        if let reason { control.stop(reason) }
        return await settler.settle(result).summary
    }

    /// What a renderer would have made of the job's source.
    var product: Result<JobProduct, any Error> { Result { try Fixture.product(of: job) } }

    /// The job, as the store has it now.
    var stored: Job {
        get async throws { try await bench.store.job(job.claim.jobID) }
    }
}

extension CacheBench {
    /// Enqueues a request and claims its job, as a worker of its own.
    func claim(_ change: (inout ThumbnailRequest) -> Void = { _ in }) async throws -> ClaimedJob {
        var request = Self.request
        change(&request)
        _ = try await store.enqueue([request])
        let worker = UUID().uuidString
        try await store.register(
            WorkerDescription(id: worker, host: "host", pid: 1, version: "test", concurrency: 4)
        )
        let jobs = try await store.claim(limit: 1, kind: .usual, queues: nil, for: worker)
        guard let job = jobs.first else { throw NothingClaimed() }
        return job
    }

    static let request = ThumbnailRequest(source: "file:///a.jpg", renditions: [Rendition(width: 64, height: 64)])

    private struct NothingClaimed: Error {}
}

extension JobOutcome.Kind {
    /// The outcome in words, as tests name it.
    var summary: String {
        switch self {
        case .recorded(.complete(.rendered(let thumbnails, _)), _): "completed \(thumbnails.count)"
        case .recorded(.complete(.kept(let thumbnails, _)), _): "unchanged \(thumbnails.count)"
        case .superseded(let duplicate): "superseded by \(duplicate)"
        case .recorded(.retry(let failure, _), let wait): "retried \(failure.code.rawValue) after \(wait)"
        case .recorded(.discard(let failure), _): "discarded \(failure.code.rawValue)"
        case .recorded(.release, _): "released"
        case .recorded(.postpone, let wait): "postponed for \(wait)"
        case .recorded(.leave(let unable, _), let wait): "left for \(wait): \(unable.lack)"
        case .leaseLost: "lease lost"
        case .unrecorded(let reason): "unrecorded: \(reason)"
        }
    }
}
