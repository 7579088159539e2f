/// What the bytes of a source are, as the worker knows before it looks at them.
package enum SourceKind: String, CaseIterable, Hashable, Sendable {
    /// A file, whosever. Its format is what its first bytes say.
    case file
    /// What the worker itself wrote: an ``Initials/canonicalText``. Never decided by the bytes, or whoever can hand in
    /// a file could have it drawn.
    case initials
}
