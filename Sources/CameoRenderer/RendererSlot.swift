internal import CLinux
internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Foundation
internal import Glibc

/// The work of one permanent thread: keeps a child and a spare ready, and renders one ticket after another.
struct RendererSlot: ~Copyable {
    let index: Int
    let configuration: RendererConfiguration
    let desk: JobDesk
    var current: RendererChild?
    /// A child started in advance, so that the picture after a crash does not wait for a start.
    var spare: RendererChild?
    /// Watches the processor time of the idle child; nil while it renders.
    var idleUse: IdleUse?
    /// The number of failed starts since the last picture.
    var failedStarts = 0

    /// How long a child may take to send its hello message.
    static let startLimit = Duration.seconds(15)

    /// The idle time in milliseconds after which a spare is started.
    static let idleBeforeSpare: Int32 = 1_000
    /// The number of consecutive failed starts after which pictures fail for lack of a renderer.
    static let startsBeforeBroken = 3

    private var doorbell: Doorbell { desk.doorbells[index] }

    /// Returns when the pool shuts down; all children are reaped then.
    mutating func run() {
        while !desk.isShuttingDown {
            guard prepareChild() else { continue }
            // A start costs as much processor time as a picture or two, so a spare is started only shortly before it is
            // needed or while the slot is idle.
            if (current?.pictures ?? 0) >= max(8, configuration.recycleAfterPictures - 8) { prepareSpare() }
            if let ticket = desk.with({ $0.next(for: index) }) {
                idleUse = nil
                serve(ticket)
            } else {
                sleepUntilCalled()
            }
        }
        retire(current.take()) { _ in }
        retire(spare.take()) { _ in }
        desk.slot(index, became: .ended)
    }

    private mutating func serve(_ ticket: RenderTicket) {
        let failure = replaceChild(for: ticket)
        ticket.clock.endWait()
        if let failure { return desk.finish(ticket, in: index, .failure(failure)) }
        guard var child = current.take() else { preconditionFailure("a child is ready") }
        child.scopes.formUnion(ticket.request.scopes)
        let attempt = RenderAttempt(ticket: ticket, configuration: configuration, desk: desk, doorbell: doorbell)
        // What its start took is not the picture's.
        let before = child.processorTime
        let (outcome, fate) = attempt.run(with: &child)
        if let before, let after = child.processorTime {
            ticket.clock.add(processorTime: max(.zero, after - before))
        }
        failedStarts = 0
        switch fate {
        case .keep: current = consume child
        case .recycle: retire(child) { $0.recycled += 1 }
        case .killed: retire(child) { $0.killed += 1 }
        case .died: retire(child) { $0.crashed += 1 }
        }
        if case .success = outcome { desk.with { $0.statistics.pictures += 1 } }
        desk.finish(ticket, in: index, outcome)
    }

    /// Replaces a child that has seen a picture under credentials that the ticket does not have, so that nothing it may
    /// have kept can leak. Returns the reason why there is no replacement; nil if a child is ready.
    private mutating func replaceChild(for ticket: RenderTicket) -> (any Error)? {
        guard let seen = current?.scopes, !seen.isSubset(of: ticket.request.scopes) else { return nil }
        retire(current.take()) { $0.recycled += 1 }
        while !prepareChild() {
            if desk.with({ $0.isCancelled(ticket.id) }) { return CancellationError() }
            guard failedStarts < Self.startsBeforeBroken else {
                return RenderFailure.cannotStart("no replacement could be started", source: ticket.request.name)
            }
        }
        return nil
    }

    /// Sleeps until the doorbell rings or the idle child does something, which it should not.
    private mutating func sleepUntilCalled() {
        var watch = PollSet(
            doorbell.descriptor,
            current?.socket.descriptor,
            current?.errorDescriptor,
            spare?.socket.descriptor,
            spare?.errorDescriptor
        )
        let mayHaveSpare = spare == nil && failedStarts == 0
        var use = idleUse ?? IdleUse(current?.processorTime)
        let isSilent = !watch.wait(milliseconds: mayHaveSpare ? Self.idleBeforeSpare : use.milliseconds)
        let isBusy = isSilent && (use.isTooMuch(current?.processorTime) || current?.hasTooManyThreads ?? false)
        idleUse = use
        guard !isBusy else {
            // An idle child has no work: whatever it computes or starts, a picture has planted it.
            desk.slot(index, became: .starting)
            idleUse = nil
            retire(current.take()) { $0.killed += 1 }
            return
        }
        guard !isSilent else { return prepareSpare() }
        if watch.isReady(doorbell.descriptor) { doorbell.silence() }
        current?.errors.drain()
        spare?.errors.drain()
        if let socket = current?.socket.descriptor, watch.isReady(socket) {
            guard current?.pictures == 0 else {
                desk.slot(index, became: .starting)
                retire(current.take()) { $0.crashed += 1 }
                return
            }
            // Otherwise a child that always ends before its first picture would be replaced in a tight loop.
            backOff(after: MalformedMessage("it ended while it was idle"))
            return
        }
        if let socket = spare?.socket.descriptor, watch.isReady(socket) { greetSpare() }
    }

    /// Kills a child, if there is one, and records it in the statistics.
    func retire(_ child: consuming RendererChild?, _ note: (inout RendererStatistics) -> Void) {
        guard var child else { return }
        let pid = child.pid
        child.killAndReap()
        desk.with { desk in
            desk.statistics.processes.remove(pid)
            note(&desk.statistics)
        }
    }

    /// Waits until ``current`` is ready. Returns false if it could not be made ready, after the back-off, or if the
    /// pool shuts down.
    mutating func prepareChild() -> Bool {
        if current == nil { current = spare.take() }
        do throws(MalformedMessage) {
            if current == nil { current = try spawn() }
            let deadline = Deadline(after: Self.startLimit)
            while try current?.greet() == false {
                guard !desk.isShuttingDown else { return false }
                guard !deadline.hasPassed else { throw MalformedMessage("it was not ready after \(Self.startLimit)") }
                var watch = PollSet(doorbell.descriptor, current?.socket.descriptor, current?.errorDescriptor)
                watch.wait(milliseconds: deadline.pollMilliseconds)
                if watch.isReady(doorbell.descriptor) { doorbell.silence() }
            }
            if let greeting = current?.greeting { desk.with { $0.greeting = greeting } }
            return true
        } catch {
            backOff(after: error)
            return false
        }
    }

    /// Starts the spare, unless starts fail; the next picture served clears that state.
    mutating func prepareSpare() {
        guard spare == nil, failedStarts == 0 else { return }
        do throws(MalformedMessage) { spare = try spawn() } catch { failedStarts += 1 }
    }

    mutating func greetSpare() {
        // After its hello, the only thing to read from an idle child is its end.
        if spare?.greeting == nil {
            do throws(MalformedMessage) {
                _ = try spare?.greet()
                return
            } catch {}
        }
        failedStarts += 1
        retire(spare.take()) { $0.crashed += 1 }
    }

    private func spawn() throws(MalformedMessage) -> RendererChild {
        do throws(Errno) {
            let child = try RendererChild(configuration)
            let pid = child.pid
            desk.with { desk in
                desk.statistics.spawned += 1
                desk.statistics.processes.insert(pid)
            }
            return child
        } catch {
            throw MalformedMessage("\(configuration.executable): \(error)")
        }
    }

    /// Waits before the next start: 0.1 s, doubling up to 5 s. A start may fail once by chance (killed from outside,
    /// out of memory); only after several in a row is the slot reported broken, and pictures fail because of it.
    mutating func backOff(after reason: MalformedMessage) {
        failedStarts += 1
        let end = current?.killAndReap()
        let words = ChildText.printable(current?.errors.text ?? "", keeping: .end)
        retire(current.take()) { $0.crashed += 1 }
        retire(spare.take()) { $0.crashed += 1 }
        let details = [ChildText.printable(reason.description), end.map(\.description) ?? "", words]
            .filter { !$0.isEmpty }
        let isBroken = failedStarts >= Self.startsBeforeBroken
        desk.slot(index, became: isBroken ? .broken(reason: details.joined(separator: ", ")) : .starting)

        let deadline = Deadline(after: RetryPolicy.untilItSucceeds.delay(afterFailures: failedStarts, chance: 0))
        while !desk.isShuttingDown, !deadline.hasPassed {
            var watch = PollSet(doorbell.descriptor)
            watch.wait(milliseconds: deadline.pollMilliseconds)
            doorbell.silence()
        }
    }
}

/// Watches the processor time of an idle child.
struct IdleUse {
    private let start: Duration?
    private var last: Duration?
    /// The time until the next check. It doubles while the child rests, so that an idle worker hardly wakes.
    private(set) var milliseconds: Int32 = 2_000

    private static let longestPause: Int32 = 32_000
    /// The processor time allowed while idle, more than any library's clean-up takes.
    private static let allowance = Duration.seconds(1)

    /// `used` is the child's total processor time when it went idle.
    init(_ used: Duration?) {
        start = used
        last = used
    }

    /// Whether the child, with this total processor time now, has used too much while idle.
    mutating func isTooMuch(_ used: Duration?) -> Bool {
        milliseconds = used == last ? min(2 * milliseconds, Self.longestPause) : 2_000
        last = used
        guard let start, let used else { return false }
        return used - start > Self.allowance
    }
}

/// Wakes a polling thread with an eventfd: any thread rings, one listens.
final class Doorbell: Sendable {
    private let file: OpenFile

    init() throws(Errno) { file = try OpenFile(opened: cameo_eventfd()) }

    /// The descriptor, readable from a ring until ``silence()``.
    var descriptor: Int32 { file.descriptor }

    func ring() {
        var one: UInt64 = 1
        write(file.descriptor, &one, 8)
    }

    func silence() {
        var count: UInt64 = 0
        read(file.descriptor, &count, 8)
    }
}
