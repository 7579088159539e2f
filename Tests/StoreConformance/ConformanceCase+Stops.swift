import CameoModel
import CameoStore
import Testing

extension ConformanceCase {
    /// Workers that are asked to stop.
    static let stops: [ConformanceCase] = [
        ConformanceCase("only the named worker is told to stop") { fixture in
            for worker in ["asked", "other"] { try await fixture.register(worker) }
            #expect(try await fixture.store.sweep(for: "asked").stop == nil)
            let worker = try await fixture.store.stopWorker("asked", .drain)
            #expect((worker.id, worker.isAlive, worker.stopping) == ("asked", true, .drain))
            #expect(try await fixture.store.sweep(for: "asked").stop == .drain)
            #expect(try await fixture.store.sweep(for: "other").stop == nil)
        },
        ConformanceCase("the next lease does not forget the request") { fixture in
            try await fixture.register()
            _ = try await fixture.store.stopWorker("w1", .now)
            try await fixture.store.extendLease(of: "w1")
            #expect(try await fixture.store.sweep(for: "w1").stop == .now)
        },
        ConformanceCase("an unknown worker is refused by name") { fixture async throws in
            await #expect(throws: StoreError.noSuch(.worker, "w9")) {
                try await fixture.store.stopWorker("w9", .now)
            }
        },
    ]

    static let stopsVaried: [ConformanceCase] =
        [(WorkerStop.drain, WorkerStop.now, WorkerStop.now), (.now, .drain, .now), (.drain, .drain, .drain)]
        .map { stopNowIsNotOverridden($0, $1, $2) }
        + [WorkerStop.drain, .now].map(aStoppingWorkerClaimsNothingEvenBeforeItsNextSweep)

    private static func stopNowIsNotOverridden(_ first: WorkerStop, _ second: WorkerStop, _ heard: WorkerStop)
        -> ConformanceCase
    {
        ConformanceCase("a stop at once is not overridden: \(first), \(second)") { fixture in
            try await fixture.register()
            for stop in [first, second] { _ = try await fixture.store.stopWorker("w1", stop) }
            #expect(try await fixture.store.sweep(for: "w1").stop == heard)
        }
    }

    private static func aStoppingWorkerClaimsNothingEvenBeforeItsNextSweep(_ stop: WorkerStop) -> ConformanceCase {
        ConformanceCase("a stopping worker claims nothing even before its next sweep: \(stop)") { fixture in
            for worker in ["asked", "other"] { try await fixture.register(worker) }
            try await fixture.enqueue()
            _ = try await fixture.store.stopWorker("asked", stop)
            #expect(try await fixture.store.claim(limit: 1, for: "asked").isEmpty)
            #expect(try await fixture.store.claim(limit: 1, for: "other").count == 1)
        }
    }
}
