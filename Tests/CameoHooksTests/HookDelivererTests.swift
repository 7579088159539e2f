import CameoFetch
import CameoHooks
import CameoModel
import CameoSQLite
import CameoStore
import CameoSystem
import Foundation
import Logging
import StoreConformance
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
            store: RefusingStore(
                store,
                refusals: Array(repeating: .full(path: store.location), count: refusals),
                pausingFor: pause
            ),
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
        let deliverer = try deliverer(refusals: 1_000)
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
