internal import CLinux
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import Synchronization

// DESIGN. The first to poll SQLite's free write lock gets it, and the process that has just released it polls first, so
// that among many processes some wait for seconds. So a waiting process shows how long it has waited, by a shared lock,
// which the kernel releases when it dies, on a byte of `waiting.lock`; each byte represents twice the wait of the one
// before. Processes that have waited less hold back. Each second has its own bytes, to which every running process moves
// on, because a waiting process may be frozen.
final class WaitingLine: Sendable {
    /// The wait in milliseconds that earns the first place.
    private static let firstPlace: Int64 = 250
    private static let places: Int64 = 64
    /// How long a process holds back at each place, in milliseconds.
    private static let courtesy: Int64 = 400
    /// How long a set of bytes is used, in milliseconds of the machine's common clock. It stays valid as long again.
    private static let period: Int64 = 1_000

    private struct Wait {
        let since: Int64
        var place: Int64 = 0
        var byte: Int64?
        /// When the process first held back at this place.
        var heldBackSince: Int64?
    }

    private let file: OpenFile
    /// The current wait; nil while the process does not wait. Used only by the writing connection's thread.
    private let wait = Mutex<Wait?>(nil)

    init(_ path: String) throws(Errno) {
        file = try StoreAccess.open(path, O_RDWR | O_CREAT)
    }

    /// Runs a closure that waits for the write lock and calls ``yieldToLongerWaits()`` between tries.
    func acquire(_ begin: () throws -> Void) rethrows {
        wait.withLock { $0 = Wait(since: cameo_monotonic_ms()) }
        defer {
            let ended = wait.withLock { $0.take() }
            if ended?.byte != nil { _ = cameo_ofd_unlock(file.descriptor) }
        }
        yieldToLongerWaits()
        try begin()
    }

    /// Takes the place that the wait has earned and holds back while others have waited longer. Outside
    /// ``acquire(_:)`` it does nothing: a checkpoint that waits for readers already has the lock.
    func yieldToLongerWaits() {
        while wait.withLock({ mustHoldBack(&$0) }) { poll(nil, 0, 1) }
    }

    /// Whether another process has, or recently had, a place beyond this one and so has waited longer. Times are in
    /// milliseconds.
    func isOccupied(beyond place: Int64, at now: Int64) -> Bool {
        guard place < Self.places - 1 else { return false }
        return [now - Self.period, now].contains { time in
            let (first, last) = (Self.byte(of: place + 1, at: time), Self.byte(of: Self.places - 1, at: time))
            return cameo_ofd_is_locked_between(file.descriptor, first, last) == 1
        }
    }

    /// The byte that represents a place at this time.
    static func byte(of place: Int64, at now: Int64) -> Int64 { now / period * places + place }

    private func mustHoldBack(_ wait: inout Wait?) -> Bool {
        guard var current = wait else { return false }
        defer { wait = current }
        let now = cameo_monotonic_ms()
        // 1 from `firstPlace` on, 2 from twice that, 3 from four times that …
        let doublings = Int64.bitWidth - ((now - current.since) / Self.firstPlace).leadingZeroBitCount
        let earned = min(Int64(doublings), Self.places - 1)
        if earned > current.place { (current.place, current.heldBackSince) = (earned, nil) }
        takePlace(&current, at: now)
        guard isOccupied(beyond: current.place, at: now) else { return false }
        let since = current.heldBackSince ?? now
        current.heldBackSince = since
        return now - since < Self.courtesy
    }

    /// Locks the byte of the place. A lock that fails only costs the place.
    private func takePlace(_ wait: inout Wait, at now: Int64) {
        let byte = Self.byte(of: wait.place, at: now)
        guard wait.place > 0, byte != wait.byte else { return }
        if wait.byte != nil { _ = cameo_ofd_unlock(file.descriptor) }
        wait.byte = cameo_ofd_share_byte(file.descriptor, byte) == 0 ? byte : nil
    }
}
