package import CameoModel
package import Foundation

/// The information that a worker polls several times a second.
package struct WorkerSweep: Sendable {
    /// How the worker was asked to stop; nil if it was not.
    package let stop: WorkerStop?
    /// Why the worker must start nothing more: a program of a newer version has migrated the store.
    package let refusal: StoreError?
    /// The claims that the worker still holds; its other running jobs were cancelled or rescued.
    package let claims: Set<Claim>
    /// The next time at which a job becomes due without any commit; nil: none is scheduled.
    package let due: Date?
    /// Whether a worker may have died or fallen silent, so that ``WorkerStore/rescueExpired(except:)`` is worth
    /// calling.
    package let hasLostWorkers: Bool
    /// Whether the store is still at its location.
    package let isInPlace: Bool

    package init(
        stop: WorkerStop?,
        refusal: StoreError?,
        claims: Set<Claim>,
        due: Date?,
        hasLostWorkers: Bool,
        isInPlace: Bool
    ) {
        self.stop = stop
        self.refusal = refusal
        self.claims = claims
        self.due = due
        self.hasLostWorkers = hasLostWorkers
        self.isInPlace = isInPlace
    }

    package var tokens: Set<String> { Set(claims.map(\.token)) }
}
