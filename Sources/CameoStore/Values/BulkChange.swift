package import CameoModel

/// What an operator does to many jobs at once.
package enum BulkChange: Sendable {
    case retry, cancel

    /// What it applies to when nobody says: what was given up, and what has not ended.
    package var usualStates: [JobState] {
        switch self {
        case .retry: [.discarded]
        case .cancel: JobState.allCases.filter { !$0.isFinal }
        }
    }

    /// Whether it does anything to jobs in this state.
    package func applies(to state: JobState) -> Bool {
        switch self {
        case .retry: state != .available && state != .running
        case .cancel: !state.isFinal
        }
    }

    /// The jobs that somebody means who names these: in the usual states, if none is named.
    ///
    /// - Throws: ``Inapplicable`` for a state in which the change does nothing to a job.
    package func meant(by filter: JobFilter) throws(Inapplicable) -> JobFilter {
        if let state = filter.states.first(where: { !applies(to: $0) }) { throw Inapplicable(state: state) }
        var filter = filter
        if filter.states.isEmpty { filter.states = usualStates }
        return filter
    }

    /// A state that was named, of jobs to which a change does nothing.
    package struct Inapplicable: Error, Hashable {
        package let state: JobState
    }
}
