package import CameoModel

/// An operator's change to many jobs at once.
package enum BulkChange: Sendable {
    case retry, cancel

    /// The default states: discarded jobs for a retry, unfinished jobs for a cancellation.
    package var usualStates: [JobState] {
        switch self {
        case .retry: [.discarded]
        case .cancel: JobState.allCases.filter { !$0.isFinal }
        }
    }

    /// Whether the change affects jobs in this state.
    package func applies(to state: JobState) -> Bool {
        switch self {
        case .retry: state != .available && state != .running
        case .cancel: !state.isFinal
        }
    }

    /// The filter restricted to the usual states if it names none.
    ///
    /// - Throws: ``Inapplicable`` for a state that the change does not affect.
    package func meant(by filter: JobFilter) throws(Inapplicable) -> JobFilter {
        if let state = filter.states.first(where: { !applies(to: $0) }) { throw Inapplicable(state: state) }
        var filter = filter
        if filter.states.isEmpty { filter.states = usualStates }
        return filter
    }

    /// A filter names a state that the change does not affect.
    package struct Inapplicable: Error, Hashable {
        package let state: JobState
    }
}
