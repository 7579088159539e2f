internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. Each available job wakes every worker that has room, but only one of them gets it. If all of them waited for the
// write lock, the settlements of running jobs would stand behind claims that find nothing: among sixteen workers on a
// busy machine no job moved for half a minute. So of the processes whose last claim found nothing, one at a time waits for
// the lock to claim, and the others look meanwhile whether there is still something to claim. Where there are jobs for
// all, nobody waits for the turn. The kernel releases that of a process that has died.

/// The right to wait for the write lock in order to claim jobs after a claim that found none. One process at a time has it.
final class ClaimTurn: Sendable {
    /// The time in milliseconds after which a process claims without the turn, because its holder may be frozen.
    private static let courtesy: Int64 = 1_000
    /// The time between two tries.
    static let pause = Duration.milliseconds(4)

    private let file: OpenFile
    /// Whether a task of this process has the turn.
    private let isTaken = Mutex(false)
    private let lastClaimWasInVain = Atomic(false)

    init(_ path: String) throws(Errno) {
        file = try StoreAccess.open(path, O_RDWR | O_CREAT)
    }

    /// Whether a claim that has lasted this long, in milliseconds, must wait for the turn.
    func isNeeded(after waited: Int64) -> Bool {
        lastClaimWasInVain.load(ordering: .relaxed) && waited < Self.courtesy
    }

    func note(found: Bool) { lastClaimWasInVain.store(!found, ordering: .relaxed) }

    /// Takes the turn if it is free. A lock that fails otherwise counts as taken, which costs ``courtesy``.
    func take() -> Bool {
        isTaken.withLock { isTaken in
            guard !isTaken, cameo_ofd_lock(file.descriptor) == 0 else { return false }
            isTaken = true
            return true
        }
    }

    func end() {
        isTaken.withLock { isTaken in
            _ = cameo_ofd_unlock(file.descriptor)
            isTaken = false
        }
    }
}
