internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation
internal import Logging

extension WorkerApp {
    /// Warns of queues that do not exist: with a mistyped name, the worker would never have anything to do.
    func warnOfUnknownQueues(_ store: any Store) async throws {
        guard let chosen = command.work.chosenQueues else { return }
        let known = Set(try await store.queues().map(\.name))
        for name in chosen where !known.contains(name) {
            warnings.warning("there is no queue \(name) yet; --queues waits for it")
        }
    }

    /// Warns of paused queues with jobs, which a drain leaves behind.
    func warnOfPausedQueues(_ store: any Store) async throws {
        let states = JobState.allCases.filter { !$0.isFinal }
        for queue in try await store.queues() where queue.paused && isChosen(queue.name) {
            let waiting = states.reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
            guard waiting > 0 else { continue }
            let jobs = AmountText.count(waiting, "job")
            let verb = waiting == 1 ? "waits" : "wait"
            warnings.warning("the queue \(queue.name) is paused: \(jobs) \(verb) in it")
        }
    }

    /// Warns of background queues whose jobs a drain leaves to the quiet hours.
    func warnOfQuietQueues(_ store: any Store) async throws {
        guard let hours = command.work.quietHours, !hours.contains(.now) else { return }
        for queue in try await store.queues() where queue.isBackground && !queue.paused && isChosen(queue.name) {
            let waiting = [JobState.available, .retryable].reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
            guard waiting > 0 else { continue }
            let verb = waiting == 1 ? "waits" : "wait"
            warnings.warning(
                "the queue \(queue.name) is open from \(hours.text): \(AmountText.count(waiting, "job")) \(verb) in it"
            )
        }
    }

    private func isChosen(_ queue: String) -> Bool { command.work.chosenQueues?.contains(queue) ?? true }
}
