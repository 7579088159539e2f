/// What happened to renderer processes so far, and which of them live.
package struct RendererStatistics: Hashable, Sendable {
    package var spawned = 0
    /// Pictures being rendered now.
    package var rendering = 0
    package var pictures = 0
    /// Processes ended because they had served enough pictures or had failed at one.
    package var recycled = 0
    /// Processes killed at a deadline, by a cancellation, or for an answer that failed a check.
    package var killed = 0
    /// Processes that ended by themselves, whatever the reason.
    package var crashed = 0
    /// The ids of the living processes, spares included.
    package var processes: Set<Int32> = []

    package init() {}
}
