internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Synchronization

/// The exchange where tasks submit tickets and slots fetch them. All state is under one lock; doorbells are rung and
/// continuations resumed outside it.
@dynamicMemberLookup
final class JobDesk: Sendable {
    private let state: Mutex<DeskState>
    let doorbells: [Doorbell]
    private let ended: Mutex<[CheckedContinuation<Void, Never>]> = Mutex([])

    /// A ticket that has waited for longer than the patience is the next: it keeps a job of its key and its bytes.
    init(doorbells: [Doorbell], patience: Duration = .seconds(30)) {
        self.doorbells = doorbells
        state = Mutex(DeskState(slots: doorbells.count, patience: patience))
    }

    /// Changes the state, and does what follows of it.
    func change(_ change: (inout DeskState) -> DeskState.Action) { carryOut(state.withLock { change(&$0) }) }

    /// Asks or tells what has no consequences.
    func with<Value: Sendable>(_ body: (inout DeskState) -> Value) -> Value { state.withLock { body(&$0) } }

    subscript<Value: Sendable>(dynamicMember path: KeyPath<DeskState, Value>) -> Value {
        state.withLock { $0[keyPath: path] }
    }

    func slot(_ slot: Int, became newState: DeskState.Slot) {
        carryOut(state.withLock { $0.slot(slot, became: newState) })
        if newState == .ended { resumeIfAllEnded() }
    }

    func finish(_ ticket: RenderTicket, in slot: Int, _ outcome: Result<RenderedPicture, any Error>) {
        state.withLock { $0.finish(ticket.id, in: slot) }
        ticket.continuation.resume(with: outcome)
    }

    func allSlotsEnded() async {
        await withCheckedContinuation { continuation in
            ended.withLock { $0.append(continuation) }
            resumeIfAllEnded()
        }
    }

    private func resumeIfAllEnded() {
        guard state.withLock({ $0.slots.allSatisfy { $0 == .ended } }) else { return }
        let waiters = ended.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    var statistics: RendererStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.rendering = state.slots.count { if case .rendering = $0 { true } else { false } }
            return statistics
        }
    }

    private func carryOut(_ action: DeskState.Action) {
        for slot in action.ring { doorbells[slot].ring() }
        for (ticket, error) in action.refuse {
            ticket.clock.endWait()
            ticket.continuation.resume(throwing: error)
        }
    }
}

/// One picture to render, with the continuation that awaits it.
struct RenderTicket: Sendable {
    typealias ID = Int

    let id: ID
    let request: RenderRequest
    /// The clock of the waiting task, restarted when a renderer takes the picture.
    let clock: WorkClock
    let continuation: CheckedContinuation<RenderedPicture, any Error>
    let submitted = ContinuousClock.now

    func job(_ configuration: RendererConfiguration) -> JobMessage {
        let overlays = request.overlays
        // A picture inside a data URI can be as long as the request: the renderer, which has its file, gets a short
        // name for it. Other names are sent unchanged, because messages may need them.
        let names = overlays.enumerated().map { index, overlay in
            InlinePicture.isIn(overlay.source) ? "data:,overlay-\(index)" : overlay.source
        }
        let nameOfSource = Dictionary(zip(overlays.map(\.source), names)) { first, _ in first }
        return JobMessage(
            renditions: request.renditions.map { rendition in
                var rendition = rendition
                if let overlay = rendition.look.overlay, let name = nameOfSource[overlay.source] {
                    rendition.look.overlay?.source = name
                }
                return rendition
            },
            overlays: names,
            kinds: request.kinds,
            limits: configuration.limits,
            toleratesTruncation: configuration.toleratesTruncation
        )
    }
}

/// The waiting tickets and the state of every slot. Changes return what the owner has to do outside the lock.
struct DeskState {
    enum Slot: Equatable {
        /// Its child is not ready yet, or it cleans up between two pictures.
        case starting
        /// It sleeps until its doorbell rings.
        case idle
        /// It was rung for a ticket and has not fetched it yet.
        case called
        case rendering(RenderTicket.ID)
        /// Its child does not start; it retries now and then.
        case broken(reason: String)
        /// Its thread has ended, and its children are reaped.
        case ended
    }

    /// What the owner has to do after a change.
    struct Action {
        /// The slots to wake.
        var ring: [Int] = []
        /// The tickets to fail, each with its reason.
        var refuse: [(ticket: RenderTicket, error: any Error)] = []
    }

    private(set) var slots: [Slot]
    private(set) var isShuttingDown = false
    /// Whether the worker is being stopped, so that foreign signals to its children are expected.
    var isEnding = false
    var statistics = RendererStatistics()
    /// What the child that became ready last said of itself.
    var greeting: HelloMessage?
    /// In the order of their arrival.
    private var waiting: [RenderTicket] = []
    private let patience: Duration
    /// The tickets that slots have fetched and not finished.
    private var fetched: [RenderTicket.ID: (slot: Int, isCancelled: Bool)] = [:]
    private var lastID = 0

    init(slots count: Int, patience: Duration) {
        slots = Array(repeating: .starting, count: count)
        self.patience = patience
    }

    mutating func newID() -> RenderTicket.ID {
        lastID += 1
        return lastID
    }

    /// Called in the ticket's task. One that was cancelled before has called ``cancel(_:)`` in vain, or will.
    mutating func submit(_ ticket: RenderTicket) -> Action {
        guard !Task.isCancelled, !isShuttingDown else { return Action(refuse: [(ticket, CancellationError())]) }
        waiting.append(ticket)
        return wakeOrRefuse()
    }

    mutating func cancel(_ id: RenderTicket.ID) -> Action {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            return Action(refuse: [(waiting.remove(at: index), CancellationError())])
        }
        guard let slot = fetched[id]?.slot else { return Action() }
        fetched[id]?.isCancelled = true
        return Action(ring: [slot])
    }

    func isCancelled(_ id: RenderTicket.ID) -> Bool { isShuttingDown || fetched[id]?.isCancelled == true }

    /// The ticket of the lowest rank for a slot that is ready, of equal ones the first, and one that has
    /// waited too long before all others; without one the slot counts as idle.
    mutating func next(for slot: Int) -> RenderTicket? {
        guard !isShuttingDown, !waiting.isEmpty else {
            slots[slot] = .idle
            return nil
        }
        func rank(_ index: Int) -> Int64 { waiting[index].request.rank ?? .max }
        let isOverdue = waiting[0].submitted.duration(to: .now) > patience
        let ticket = waiting.remove(at: isOverdue ? 0 : waiting.indices.min { rank($0) < rank($1) } ?? 0)
        fetched[ticket.id] = (slot, false)
        slots[slot] = .rendering(ticket.id)
        return ticket
    }

    mutating func finish(_ id: RenderTicket.ID, in slot: Int) {
        fetched[id] = nil
        slots[slot] = .starting
    }

    /// Changes a slot's state. If it cannot serve, another has to take the ticket for which it was called.
    mutating func slot(_ slot: Int, became state: Slot) -> Action {
        slots[slot] = state
        return wakeOrRefuse()
    }

    mutating func shutDown() -> Action {
        isShuttingDown = true
        defer { waiting = [] }
        return Action(ring: Array(slots.indices), refuse: waiting.map { ($0, CancellationError()) })
    }

    var isReady: Bool {
        slots.contains { slot in
            switch slot {
            case .idle, .called, .rendering: true
            case .starting, .broken, .ended: false
            }
        }
    }

    /// The reason why no slot can start its child; nil while one may.
    var brokenReason: String? {
        var reason: String?
        for slot in slots {
            guard case .broken(let text) = slot else { return nil }
            reason = text
        }
        return reason
    }

    /// Rings as many idle slots as there is work for; if every slot is broken, fails the tickets, which nobody would
    /// fetch.
    private mutating func wakeOrRefuse() -> Action {
        let called = slots.count { $0 == .called }
        var action = Action()
        for index in slots.indices where slots[index] == .idle && called + action.ring.count < waiting.count {
            slots[index] = .called
            action.ring.append(index)
        }
        if let reason = brokenReason {
            action.refuse = waiting.map { ($0, RenderFailure.cannotStart(reason, source: $0.request.name)) }
            waiting = []
        }
        return action
    }
}
