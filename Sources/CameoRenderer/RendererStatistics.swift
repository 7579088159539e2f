/// What became of the children so far, and what those that live take.
package struct RendererStatistics: Hashable, Sendable {
    package var spawned = 0
    /// Pictures in the hands of a child now.
    package var rendering = 0
    package var pictures = 0
    /// Ended because they had served enough, or had failed at a picture.
    package var recycled = 0
    /// Killed at a deadline, by a cancellation, or for an answer that could not be believed.
    package var killed = 0
    /// Ended by themselves, whatever the reason.
    package var crashed = 0
    /// Process id and resident bytes of each living child, spares included.
    package var residentBytes: [Int32: Int] = [:]
}
