package import CameoModel
package import Foundation

/// What a worker has to know several times a second.
package struct WorkerSweep: Sendable {
    /// How it was asked to end; nil if it was not.
    package let stop: WorkerStop?
    /// Why it begins nothing more: a program of a newer version has taken over the store.
    package let refusal: StoreError?
    /// The claim tokens that are still its own; what it runs beyond them was cancelled or given away.
    package let tokens: Set<String>
    /// When there may be something to claim without anybody's commit; nil: nothing waits for its time.
    package let due: Date?
    /// Whether a worker may have died or fallen silent: then ``WorkerStore/rescueExpired(except:)`` is worthwhile.
    package let hasLostWorkers: Bool
    /// Whether the store still lies where it was opened.
    package let isInPlace: Bool

    package init(
        stop: WorkerStop?,
        refusal: StoreError?,
        tokens: Set<String>,
        due: Date?,
        hasLostWorkers: Bool,
        isInPlace: Bool
    ) {
        self.stop = stop
        self.refusal = refusal
        self.tokens = tokens
        self.due = due
        self.hasLostWorkers = hasLostWorkers
        self.isInPlace = isInPlace
    }
}
