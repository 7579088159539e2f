import CameoFetch
import CameoHooks
import CameoModel
import CameoSQLite
import CameoStore
import CameoSystem
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HookDelivererTests {
    private let folder: TemporaryFolder
    private let store: any Store

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
    }

    private func deliverer(
        refusals: Int = 0,
        _ command: String = "/bin/true",
        pausingFor pause: TimeInterval = 0
    ) throws -> HookDeliverer {
        let file = try HookFile(parsing: #"{"hooks":{"site":{"command":["\#(command)"]}}}"#.utf8)
        return HookDeliverer(
            try HookSettings(file) { _ throws(Errno) in throw Errno(ENOENT) },
            store: RefusingStore(store, refusals: refusals, pausingFor: pause),
            client: try PostClient(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Enters a delivery that is due, and registers the worker that is to make it.
    private func enterDelivery() async throws {
        try await store.register(WorkerDescription(id: "w", host: "h", pid: 1, version: "test", concurrency: 1))
        var request = ThumbnailRequest(source: "initials:AB", renditions: [Rendition(width: 16)])
        request.hook = "site"
        _ = try await store.cancel(try #require(try await store.enqueue([request])[0].id))
    }

    private func report() async throws -> HookReport { try #require(try await store.hooks(failures: 1).first) }

    /// Otherwise the delivery would stay claimed for as long as the worker lives.
    @Test func anEndThatTheStoreRefusesForAWhileIsRecorded() async throws {
        try await enterDelivery()
        let deliverer = try deliverer(refusals: 2)
        let run = Task { await deliverer.run(as: "w") }
        try await eventually("a hook is delivered") { try await report().delivered > 0 }
        deliverer.end(draining: false, within: nil)
        await run.value
        #expect(try await report().running == 0)
    }

    @Test func aDelivererThatEndsDoesNotWaitForTheStore() async throws {
        try await enterDelivery()
        let deliverer = try deliverer(refusals: .max)
        deliverer.end(draining: true, within: nil)
        await deliverer.run(as: "w")
        #expect(try await report().running == 1)
        try await store.deregister("w", adding: StoreCounters())
        #expect(try await report().waiting == 1)
    }

    /// A suspended machine must not use up the age within which a receiver may come back.
    @Test func aDeliveryIsTriedAgainAfterATryInWhichTheWorkerStoodStill() async throws {
        try await enterDelivery()
        let deliverer = try deliverer("/bin/false", pausingFor: 30 * 86_400)
        let run = Task { await deliverer.run(as: "w") }
        try await eventually("the try has ended") {
            let report = try await report()
            return report.trouble != nil || !report.failures.isEmpty
        }
        deliverer.end(draining: false, within: nil)
        await run.value
        #expect(try await report().failures.isEmpty)
    }
}

/// A store that refuses to record the ends of deliveries a number of times, and whose clock goes on by a pause while a
/// message is made.
private final class RefusingStore: HookStore {
    private let store: any Store
    private let refusals: Mutex<Int>
    private let pause: TimeInterval
    private let isLater = Atomic(false)

    init(_ store: any Store, refusals: Int, pausingFor pause: TimeInterval) {
        self.store = store
        self.refusals = Mutex(refusals)
        self.pause = pause
    }

    func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError) {
        let isRefused = refusals.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if isRefused { throw .full(path: store.location) }
        try await store.settle(delivery, as: end)
    }

    var location: String { store.location }
    var folder: String? { store.folder }
    var lease: Duration { store.lease }
    var clock: StoreClock {
        let time = store.clock.now() + (isLater.load(ordering: .relaxed) ? pause : 0)
        return StoreClock(now: { time }, uptime: store.clock.uptime)
    }
    var isInPlace: Bool { store.isInPlace }
    func version() async throws(StoreError) -> Int { try await store.version() }
    func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> { store.wakeUps(pause: pause) }
    func finish() async { await store.finish() }
    func close() { store.close() }

    func note(hooks: [String], of worker: String) async throws(StoreError) {
        try await store.note(hooks: hooks, of: worker)
    }

    func claimDeliveries(_ room: [String: Int], for worker: String) async throws(StoreError) -> [ClaimedDelivery] {
        try await store.claimDeliveries(room, for: worker)
    }

    func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookDelivery {
        isLater.store(true, ordering: .relaxed)
        return try await store.message(of: delivery)
    }

    func hooks(failures: Int) async throws(StoreError) -> [HookReport] { try await store.hooks(failures: failures) }

    func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int {
        try await store.retryDeliveries(choice)
    }

    func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError) {
        try await store.setHook(hook, ofQueue: queue, unknown: unknown)
    }
}
