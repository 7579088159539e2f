internal import CameoModel
internal import CameoRenderMessages

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
        case ended
    }

    enum Phase: Equatable {
        /// The ticket has an id but has not been submitted.
        case announced
        case waiting
        case rendering(slot: Int)
        /// The ticket was cancelled before it was submitted, or while it renders.
        case cancelled
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

    /// The next ticket for a slot that is ready, background tickets last; without one the slot counts as idle.
    mutating func next(for slot: Int) -> RenderTicket? {
        guard !isShuttingDown, !waiting.isEmpty else {
            slots[slot] = .idle
            return nil
        }
        let ticket = waiting.remove(at: waiting.firstIndex { !$0.isBackground } ?? 0)
        phases[ticket.id] = .rendering(slot: slot)
        slots[slot] = .rendering(ticket.id)
        return ticket
    }

    mutating func finish(_ id: RenderTicket.ID, in slot: Int) {
        phases[id] = nil
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

    /// The reason why no slot can start its child; nil while one may.
    var brokenReason: String? {
        var reason: String?
        for slot in slots {
            guard case .broken(let text) = slot else { return nil }
            reason = text
        }
        return reason
    }

    /// The statistics, completed from the slots' states.
    var fullStatistics: RendererStatistics {
        var statistics = statistics
        statistics.rendering = slots.count { if case .rendering = $0 { true } else { false } }
        return statistics
    }

    var allEnded: Bool { slots.allSatisfy { $0 == .ended } }

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
            action.refuse = waiting.map { ($0, RenderFailure.cannotStart(reason, source: $0.name)) }
            for ticket in waiting { phases[ticket.id] = nil }
            waiting = []
        }
        return action
    }
}
