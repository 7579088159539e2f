internal import CameoModel
internal import CameoRenderMessages

/// Who waits and which slot does what. Changes return what its owner has to do outside the lock.
struct DeskState {
    enum Slot: Equatable {
        /// Its child is not ready yet, or it tidies up between two pictures.
        case starting
        /// Sleeps until its doorbell rings.
        case idle
        /// Was rung for a ticket and has not come for it yet.
        case called
        case rendering(RenderTicket.ID)
        /// Its child does not start; it tries again now and then.
        case broken(reason: String)
        case ended
    }

    enum Phase: Equatable {
        /// Known, not yet handed in.
        case announced
        case waiting
        case rendering(slot: Int)
        /// Called off before it was handed in, or while it renders.
        case cancelled
    }

    /// What a change leaves to be done.
    struct Action {
        /// Slots to wake.
        var ring: [Int] = []
        /// Tickets to give up, each with its reason.
        var refuse: [(ticket: RenderTicket, error: any Error)] = []
    }

    private(set) var slots: [Slot]
    private(set) var isShuttingDown = false
    /// Whether the worker is to end, and what somebody else's signal does to a child is part of that.
    var isEnding = false
    var statistics = RendererStatistics()
    /// Of the first child that was ready: all run on one kernel.
    private(set) var sandbox: SandboxReport?
    /// Of the child that became ready last.
    private(set) var rendererVersion: String?
    private var waiting: [RenderTicket] = []
    private var phases: [RenderTicket.ID: Phase] = [:]
    private var lastID = 0

    init(slots count: Int) {
        slots = Array(repeating: .starting, count: count)
    }

    mutating func announce() -> RenderTicket.ID {
        lastID += 1
        phases[lastID] = .announced
        return lastID
    }

    mutating func submit(_ ticket: RenderTicket) -> Action {
        guard phases[ticket.id] == .announced, !isShuttingDown else {
            phases[ticket.id] = nil
            return Action(refuse: [(ticket, CancellationError())])
        }
        waiting.append(ticket)
        phases[ticket.id] = .waiting
        return wakeOrRefuse()
    }

    mutating func cancel(_ id: RenderTicket.ID) -> Action {
        switch phases[id] {
        case nil, .cancelled: return Action()
        case .announced:
            phases[id] = .cancelled
            return Action()
        case .rendering(let slot):
            phases[id] = .cancelled
            return Action(ring: [slot])
        case .waiting:
            phases[id] = nil
            guard let index = waiting.firstIndex(where: { $0.id == id }) else { return Action() }
            return Action(refuse: [(waiting.remove(at: index), CancellationError())])
        }
    }

    func isCancelled(_ id: RenderTicket.ID) -> Bool { isShuttingDown || phases[id] == .cancelled }

    mutating func note(_ sandbox: SandboxReport, version: String?) {
        if self.sandbox == nil { self.sandbox = sandbox }
        rendererVersion = version
    }

    /// The next ticket for a slot that is ready for one; without one the slot counts as idle.
    mutating func next(for slot: Int) -> RenderTicket? {
        guard !isShuttingDown, !waiting.isEmpty else {
            slots[slot] = .idle
            return nil
        }
        let ticket = waiting.removeFirst()
        phases[ticket.id] = .rendering(slot: slot)
        slots[slot] = .rendering(ticket.id)
        return ticket
    }

    mutating func finish(_ id: RenderTicket.ID, in slot: Int) {
        phases[id] = nil
        slots[slot] = .starting
    }

    /// A slot that cannot serve: somebody else has to take what it was called for.
    mutating func slot(_ slot: Int, became state: Slot) -> Action {
        slots[slot] = state
        return wakeOrRefuse()
    }

    mutating func shutDown() -> Action {
        isShuttingDown = true
        defer { waiting = [] }
        for ticket in waiting { phases[ticket.id] = nil }
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

    /// Why no slot can start its child; nil while one may.
    var brokenReason: String? {
        var reason: String?
        for slot in slots {
            guard case .broken(let text) = slot else { return nil }
            reason = text
        }
        return reason
    }

    /// With what only the slots tell.
    var fullStatistics: RendererStatistics {
        var statistics = statistics
        statistics.rendering = slots.count { if case .rendering = $0 { true } else { false } }
        return statistics
    }

    var allEnded: Bool { slots.allSatisfy { $0 == .ended } }

    /// Rings as many idle slots as there is work for; if every slot is broken, nobody would ever come.
    private mutating func wakeOrRefuse() -> Action {
        let called = slots.count { $0 == .called }
        var action = Action()
        for index in slots.indices where slots[index] == .idle && called + action.ring.count < waiting.count {
            slots[index] = .called
            action.ring.append(index)
        }
        if let reason = brokenReason {
            action.refuse = waiting.map { ($0, RenderFailure.cannotStart(reason, source: $0.name)) }
            for ticket in waiting { phases[ticket.id] = nil }
            waiting = []
        }
        return action
    }
}
