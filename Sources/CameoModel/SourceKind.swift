/// The kind of a source, which the worker knows before it reads the bytes.
package enum SourceKind: String, CaseIterable, Hashable, Sendable {
    /// Any file. Its format is determined by its first bytes.
    case file
    /// An ``Initials/canonicalText`` written by the worker itself. The bytes never decide this, or any submitted file
    /// could pass as one.
    case initials
    /// A video or, for a renderer, the frame of one: an uncompressed PNG that the worker has had made.
    case video
    /// A video of which only the parts are there that were asked for. What is missing are holes of its file.
    case partialVideo

    package var isVideo: Bool { self == .video || self == .partialVideo }
}
