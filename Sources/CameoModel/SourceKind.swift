/// The kind of a source, which the worker knows before it reads the bytes.
package enum SourceKind: String, CaseIterable, Hashable, Sendable {
    /// Any file. Its format is determined by its first bytes.
    case file
    /// An ``Initials/canonicalText`` written by the worker itself. The bytes never decide this, or any submitted file
    /// could pass as one.
    case initials
    /// A video or, for a renderer, the frame of one: an uncompressed PNG that the worker has had made.
    case video
}
