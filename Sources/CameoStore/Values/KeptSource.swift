/// The result of keeping an answer.
package enum KeptSource: Hashable, Sendable {
    case kept
    /// The answer of a newer fetch is already kept.
    case superseded
    /// The answer alone exceeds the budget.
    case tooLarge
}
