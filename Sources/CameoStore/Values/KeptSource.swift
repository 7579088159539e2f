/// What became of an answer that was to be kept.
package enum KeptSource: Hashable, Sendable {
    case kept
    /// A newer fetch's answer is there.
    case superseded
    /// It alone is larger than the budget.
    case tooLarge
}
