import CameoModel
import CameoStore
import Synchronization

/// A real store that refuses some settlements: each attempt to write takes the next error from a list, and succeeds when the
/// list is empty.
final class RefusingStore: WorkerStore {
    private struct State {
        var refusals: [StoreError]
        var writes: [String] = []
        var onWrite: @Sendable () -> Void = {}
    }

    private let store: any WorkerStore
    private let state: Mutex<State>

    init(_ store: any WorkerStore, refusals: [StoreError]) {
        self.store = store
        state = Mutex(State(refusals: refusals))
    }

    /// The attempts to write so far, refused ones included.
    var writes: [String] { state.withLock { $0.writes } }

    /// Calls `body` in every attempt to write from now on.
    func onWrite(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onWrite = body } }

    private func pass(_ write: String) throws(StoreError) {
        let (refusal, onWrite) = state.withLock { state in
            state.writes.append(write)
            return (state.refusals.isEmpty ? nil : state.refusals.removeFirst(), state.onWrite)
        }
        onWrite()
        if let refusal { throw refusal }
    }

    @discardableResult
    func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) async throws(StoreError) -> End? {
        switch end {
        case .complete: try pass("complete")
        case .retry: try pass("retry")
        case .discard: try pass("discard")
        case .release: try pass("release")
        case .postpone: try pass("postpone")
        case .leave: try pass("leave")
        }
        return try await store.settle(claim, as: end, timings: timings)
    }

    // MARK: - Calls that always reach the store

    var location: String { store.location }
    var folder: String? { store.folder }
    var lease: Duration { store.lease }
    var clock: StoreClock { store.clock }
    var isInPlace: Bool { store.isInPlace }
    func version() async throws(StoreError) -> Int { try await store.version() }
    func finish() async { await store.finish() }
    func close() { store.close() }
    func register(_ worker: WorkerDescription) async throws(StoreError) { try await store.register(worker) }
    func extendLease(of worker: String, adding counted: StoreCounters, _ progress: WorkerProgress)
        async throws(StoreError)
    {
        try await store.extendLease(of: worker, adding: counted, progress)
    }
    func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError) {
        try await store.deregister(worker, adding: counted)
    }
    func sweep(for worker: String) async throws(StoreError) -> WorkerSweep { try await store.sweep(for: worker) }
    func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> { store.wakeUps(pause: pause) }
    func claim(_ request: ClaimRequest) async throws(StoreError) -> [ClaimedJob] { try await store.claim(request) }
    func takeRefused() -> [LostJob] { store.takeRefused() }
    func hasOverduePoisonJob(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Bool {
        try await store.hasOverduePoisonJob(queues: queues, background: background)
    }
    func unfinishedJobs(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Int {
        try await store.unfinishedJobs(queues: queues, background: background)
    }
    func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        try await store.rescueExpired(except: own)
    }
    func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> BegunFetch {
        try await store.beginFetch(claim, of: request)
    }
    func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest { try await store.absorbUpload(job) }
    func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool {
        try await store.have(thumbnails, as: seen)
    }
}
