internal import CameoModel
internal import CameoRenderMessages
internal import Synchronization

/// The exchange where tasks submit tickets and slots fetch them. All state is under one lock; doorbells are rung and
/// continuations resumed outside it.
final class JobDesk: Sendable {
    private let state: Mutex<DeskState>
    private let doorbells: [Doorbell]
    private let ended: Mutex<[CheckedContinuation<Void, Never>]> = Mutex([])

    init(doorbells: [Doorbell]) {
        self.doorbells = doorbells
        state = Mutex(DeskState(slots: doorbells.count))
    }

    func announce() -> RenderTicket.ID { state.withLock { $0.announce() } }

    func submit(_ ticket: RenderTicket) { carryOut(state.withLock { $0.submit(ticket) }) }

    func cancel(_ id: RenderTicket.ID) { carryOut(state.withLock { $0.cancel(id) }) }

    func shutDown() { carryOut(state.withLock { $0.shutDown() }) }

    func expectEnd() { state.withLock { $0.isEnding = true } }

    var isEnding: Bool { state.withLock { $0.isEnding } }

    var isReady: Bool { state.withLock { $0.isReady } }

    var brokenReason: String? { state.withLock { $0.brokenReason } }

    var greeting: HelloMessage? { state.withLock { $0.greeting } }

    func note(_ greeting: HelloMessage) { state.withLock { $0.greeting = greeting } }

    var isShuttingDown: Bool { state.withLock { $0.isShuttingDown } }

    func isCancelled(_ id: RenderTicket.ID) -> Bool { state.withLock { $0.isCancelled(id) } }

    var count: Int { doorbells.count }

    func doorbell(of slot: Int) -> Doorbell { doorbells[slot] }

    func next(for slot: Int) -> RenderTicket? { state.withLock { $0.next(for: slot) } }

    func slot(_ slot: Int, became newState: DeskState.Slot) {
        carryOut(state.withLock { $0.slot(slot, became: newState) })
    }

    func finish(_ ticket: RenderTicket, in slot: Int, _ outcome: Result<RenderedPicture, any Error>) {
        state.withLock { $0.finish(ticket.id, in: slot) }
        ticket.continuation.resume(with: outcome)
    }

    /// Records that a slot's thread has ended and its children are reaped.
    func slotEnded(_ slot: Int, count: Int = 1) {
        for index in slot..<slot + count { self.slot(index, became: .ended) }
        resumeIfAllEnded()
    }

    func allSlotsEnded() async {
        await withCheckedContinuation { continuation in
            ended.withLock { $0.append(continuation) }
            resumeIfAllEnded()
        }
    }

    private func resumeIfAllEnded() {
        guard state.withLock({ $0.allEnded }) else { return }
        let waiters = ended.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func count(_ change: (inout RendererStatistics) -> Void) { state.withLock { change(&$0.statistics) } }

    var statistics: RendererStatistics { state.withLock { $0.fullStatistics } }

    private func carryOut(_ action: DeskState.Action) {
        for slot in action.ring { doorbells[slot].ring() }
        for (ticket, error) in action.refuse {
            ticket.clock.endWait()
            ticket.continuation.resume(throwing: error)
        }
    }
}
