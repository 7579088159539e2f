/// What a put of bytes found.
package enum PutResult: Hashable, Sendable {
    /// The bytes were written.
    case stored
    /// Bytes were already there, and were left as they are.
    case existed
}
