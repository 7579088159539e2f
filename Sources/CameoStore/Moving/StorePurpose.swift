/// What a store is opened for.
package enum StorePurpose: Sendable {
    case reading, writing
    /// Moving it, or moving another there.
    case moving
}
