package import CameoHTTPCache
package import CameoModel
package import CameoStore
package import CameoSystem
package import Foundation
internal import Synchronization

/// A real store that refuses some ends: each attempt to write one takes the next error from a list, and succeeds when the
/// list is empty. Its clock goes on by a pause while a message is made for a hook.
package final class RefusingStore: WorkerStore {
    private struct State {
        var refusals: [StoreError]
        var writes: [String] = []
        var onWrite: @Sendable () -> Void = {}
        var isLater = false
    }

    private let store: any WorkerStore
    private let pause: TimeInterval
    private let state: Mutex<State>

    package init(_ store: any WorkerStore, refusals: [StoreError], pausingFor pause: TimeInterval = 0) {
        (self.store, self.pause) = (store, pause)
        state = Mutex(State(refusals: refusals))
    }

    /// The attempts to write so far, refused ones included.
    package var writes: [String] { state.withLock { $0.writes } }

    /// Calls `body` in every attempt to write from now on.
    package func onWrite(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onWrite = body } }

    private func pass(_ write: String) throws(StoreError) {
        let (refusal, onWrite) = state.withLock { state in
            state.writes.append(write)
            return (state.refusals.isEmpty ? nil : state.refusals.removeFirst(), state.onWrite)
        }
        onWrite()
        if let refusal { throw refusal }
    }

    @discardableResult
    package func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) async throws(StoreError) -> End? {
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

    package func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError) {
        try pass("delivery")
        try await store.settle(delivery, as: end)
    }

    package func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookMessage {
        state.withLock { $0.isLater = true }
        return try await store.message(of: delivery)
    }

    package var clock: StoreClock {
        let time = store.clock.now() + (state.withLock { $0.isLater } ? pause : 0)
        return StoreClock(now: { time }, uptime: store.clock.uptime)
    }

    // MARK: - Calls that always reach the store

    package var location: String { store.location }
    package var folder: String? { store.folder }
    package var lease: Duration { store.lease }
    package var isInPlace: Bool { store.isInPlace }
    package func version() async throws(StoreError) -> Int { try await store.version() }
    package func finish() async { await store.finish() }
    package func close() { store.close() }
    package func register(_ worker: WorkerDescription) async throws(StoreError) { try await store.register(worker) }
    package func extendLease(of worker: String, adding counted: StoreCounters, _ progress: WorkerProgress)
        async throws(StoreError)
    {
        try await store.extendLease(of: worker, adding: counted, progress)
    }
    package func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError) {
        try await store.deregister(worker, adding: counted)
    }
    package func sweep(for worker: String) async throws(StoreError) -> WorkerSweep {
        try await store.sweep(for: worker)
    }
    package func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> { store.wakeUps(pause: pause) }
    package func claim(_ request: ClaimRequest) async throws(StoreError) -> [ClaimedJob] {
        try await store.claim(request)
    }
    package func takeRefused() -> [LostJob] { store.takeRefused() }
    package func endSealedBatches() async throws(StoreError) { try await store.endSealedBatches() }
    package func hasOverduePoisonJob(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Bool {
        try await store.hasOverduePoisonJob(queues: queues, background: background)
    }
    package func unfinishedJobs(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Int {
        try await store.unfinishedJobs(queues: queues, background: background)
    }
    package func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport {
        try await store.rescueExpired(except: own)
    }
    package func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> FetchTicket {
        try await store.beginFetch(claim, of: request)
    }
    package func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest { try await store.absorbUpload(job) }
    package func readUploads() async throws(StoreError) { try await store.readUploads() }
    package func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool {
        try await store.have(thumbnails, as: seen)
    }
    package func nextSourceSeen() async throws(StoreError) -> Int64 { try await store.nextSourceSeen() }
    package func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource] {
        try await store.cachedSources(key)
    }
    package func keep(_ source: CachedSource, data: Data, budget: Int?) async throws(StoreError) -> KeptSource {
        try await store.keep(source, data: data, budget: budget)
    }
    package func freshen(_ source: CachedSource) async throws(StoreError) -> Bool { try await store.freshen(source) }
    package func touch(_ source: CachedSource) async throws(StoreError) { try await store.touch(source) }
    package func dropCachedSource(_ source: CachedSource) async throws(StoreError) {
        try await store.dropCachedSource(source)
    }
    package func remember(_ failure: JobFailure, of key: SourceKey, until: Date, seen: Int64, peers: [Peer])
        async throws(StoreError)
    {
        try await store.remember(failure, of: key, until: until, seen: seen, peers: peers)
    }
    package func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure? {
        try await store.rememberedFailure(of: key)
    }
    package func keepPartial(_ partial: PartialResponse, bytes: Data, of key: SourceKey) async throws(StoreError) {
        try await store.keepPartial(partial, bytes: bytes, of: key)
    }
    package func partial(of key: SourceKey) async throws(StoreError) -> (PartialResponse, OpenFile)? {
        try await store.partial(of: key)
    }
    package func dropPartial(of key: SourceKey) async throws(StoreError) { try await store.dropPartial(of: key) }
    package func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> Bool {
        try await store.evictSources(over: budget, atMost: limit)
    }
    package func note(hooks: [String], of worker: String) async throws(StoreError) {
        try await store.note(hooks: hooks, of: worker)
    }
    package func claimDeliveries(_ room: [String: Int], for worker: String) async throws(StoreError)
        -> [ClaimedDelivery]
    {
        try await store.claimDeliveries(room, for: worker)
    }
}
