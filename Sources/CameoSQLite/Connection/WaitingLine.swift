internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. SQLite's write lock knows no queue: whoever looks when it is free has it, and the one that has just let it go
// looks first. Among many processes that is a lottery with a long tail: of 24 connections that commit for 60 ms each
// without a pause, one waited for 11.5 s where the mean was 1.4 s. So one that waits says for how long, by a shared
// lock on a byte of `waiting.lock`: each byte stands for twice the wait of the one before it. Whoever has waited for
// less holds back, and the longest wait of those 24 is 3.3 s. Locks, since the kernel takes them from the dead; and
// every second has bytes of its own, to which whoever is awake moves on, since one that stands in the line may be
// frozen. Programs that are not Cameo's know of no line and take part in the lottery.
final class WaitingLine: Sendable {
    /// Milliseconds after which a process is in the first place of the line.
    private static let firstPlace: Int64 = 250
    private static let places: Int64 = 64
    /// Milliseconds for which one holds back at each place.
    private static let courtesy: Int64 = 400
    /// Milliseconds, by the clock that all processes of the machine share, for which bytes are good, and as long again.
    private static let period: Int64 = 1_000

    private struct Wait {
        let since: Int64
        var place: Int64 = 0
        var byte: Int64?
        /// When it first held back at this place.
        var heldBackSince: Int64?
    }

    private let file: OpenFile
    /// Nil while the process does not wait. Used by one thread, that of the writing connection.
    private let wait = Mutex<Wait?>(nil)

    init(_ path: String) throws(Errno) {
        file = try StoreAccess.open(path, O_RDWR | O_CREAT)
    }

    /// Runs what waits for the write lock; between its tries it is to call ``letLongerWaitsPass()``.
    func stand(_ begin: () throws -> Void) rethrows {
        wait.withLock { $0 = Wait(since: cameo_monotonic_ms()) }
        defer { leave() }
        letLongerWaitsPass()
        try begin()
    }

    /// Takes the place that the wait has earned and holds back while others have waited longer. Outside of
    /// ``stand(_:)`` it does nothing: a checkpoint that waits for readers has the lock already.
    func letLongerWaitsPass() {
        while wait.withLock({ mustHoldBack(&$0) }) { poll(nil, 0, 1) }
    }

    /// Whether another process stands behind this place, or stood there a moment ago. Times are milliseconds.
    func somebodyStands(beyond place: Int64, at now: Int64) -> Bool {
        guard place < Self.places - 1 else { return false }
        return [now - Self.period, now].contains { time in
            let (first, last) = (Self.byte(of: place + 1, at: time), Self.byte(of: Self.places - 1, at: time))
            return cameo_ofd_is_locked_between(file.descriptor, first, last) == 1
        }
    }

    /// Where one stands who has this place now.
    static func byte(of place: Int64, at now: Int64) -> Int64 { now / period * places + place }

    private func mustHoldBack(_ wait: inout Wait?) -> Bool {
        guard var current = wait else { return false }
        defer { wait = current }
        let now = cameo_monotonic_ms()
        let earned = Self.place(after: now - current.since)
        if earned > current.place { (current.place, current.heldBackSince) = (earned, nil) }
        takePlace(&current, at: now)
        guard somebodyStands(beyond: current.place, at: now) else { return false }
        let since = current.heldBackSince ?? now
        current.heldBackSince = since
        return now - since < Self.courtesy
    }

    /// A lock that cannot be had costs only the place.
    private func takePlace(_ wait: inout Wait, at now: Int64) {
        let byte = Self.byte(of: wait.place, at: now)
        guard wait.place > 0, byte != wait.byte else { return }
        if wait.byte != nil { _ = cameo_ofd_unlock(file.descriptor) }
        wait.byte = cameo_ofd_share_byte(file.descriptor, byte) == 0 ? byte : nil
    }

    private func leave() {
        let byte = wait.withLock { wait in
            defer { wait = nil }
            return wait?.byte
        }
        if byte != nil { _ = cameo_ofd_unlock(file.descriptor) }
    }

    private static func place(after milliseconds: Int64) -> Int64 {
        // 1 from the first place's time on, 2 from twice that, 3 from four times that …
        min(Int64(Int64.bitWidth - (milliseconds / firstPlace).leadingZeroBitCount), places - 1)
    }
}
