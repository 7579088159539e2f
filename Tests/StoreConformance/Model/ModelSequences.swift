import CameoModel
import Foundation
import TestSupport
import Testing

/// Compares random sequences on a real store with a simple model.
///
/// `CAMEO_MODEL_SEED=7` runs one sequence again; `CAMEO_MODEL_SEEDS=5000` runs as many.
package enum ModelSequences {
    private static let steps = 500
    /// The number of sequences in which the rarest pair occurs about three times.
    package static let enough = 24
    /// The number of concurrent sequences.
    private static let width = 2

    private static func seeds(_ few: Int) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["CAMEO_MODEL_SEED"].flatMap(UInt64.init) { return [seed] }
        let count = environment["CAMEO_MODEL_SEEDS"].flatMap(Int.init) ?? TestLength.rounds(few, full: 200)
        return (1...count).map(UInt64.init)
    }

    /// Expects store and model to agree after every step.
    ///
    /// - Parameters:
    ///   - few: the number of sequences in a run that is not long.
    ///   - engine: makes the engine of one sequence.
    package static func agree(
        sequences few: Int = enough,
        on engine: @escaping @Sendable () async throws -> any ModelEngine
    ) async {
        let seeds = seeds(few)
        let pairs = await withTaskGroup(of: [ModelRun.Pair: Int].self) { group in
            var pairs: [ModelRun.Pair: Int] = [:]
            for (index, seed) in seeds.enumerated() {
                if index >= width, let done = await group.next() { pairs.merge(done, uniquingKeysWith: +) }
                group.addTask { await run(seed, on: engine) }
            }
            for await done in group { pairs.merge(done, uniquingKeysWith: +) }
            return pairs
        }
        guard seeds.count >= enough else { return }
        let missed = everyPair.filter { pairs[$0] == nil }
        #expect(missed.isEmpty, "never reached: \(missed)")
    }

    private static func run(_ seed: UInt64, on engine: @Sendable () async throws -> any ModelEngine) async
        -> [ModelRun.Pair: Int]
    {
        do {
            var run = try await ModelRun(engine(), seed: seed)
            try await run.run(steps: steps)
            return run.pairs
        } catch {
            Issue.record("CAMEO_MODEL_SEED=\(seed): \(error)")
            return [:]
        }
    }

    /// Every operation on a job must occur in every state of a job, including lost claims.
    private static var everyPair: [ModelRun.Pair] {
        let onJobs: [ModelRun.Operation] = [
            .enqueue, .complete, .fail, .discard, .release, .cancel, .retry, .snooze, .tornCancel, .tornRetry,
        ]
        let pairs = onJobs.flatMap { operation in
            JobState.allCases.map { ModelRun.Pair(operation: operation, state: $0) }
        }
        let rest: [(ModelRun.Operation, JobState?)] = [
            (.enqueue, nil), (.insert, nil), (.claim, nil), (.claim, .available), (.expire, .running),
            (.crash, .running),
            (.remove, .completed), (.remove, .discarded), (.remove, .cancelled), (.pause, nil), (.limit, nil),
        ]
        return pairs + rest.map { ModelRun.Pair(operation: $0.0, state: $0.1) }
    }
}
