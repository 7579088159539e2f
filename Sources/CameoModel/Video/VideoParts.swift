/// What is missing of a video, whose file has holes there.
package protocol VideoParts: Sendable {
    /// The size of the parts that were loaded so far.
    var loadedBytes: Int { get }

    /// Loads the parts with the given bytes into the file, if they are still missing.
    ///
    /// - Returns: whether any was missing.
    /// - Throws: `JobFailure` of stage `fetch`, or `CancellationError`.
    func load(_ offsets: Set<Int>, _ clock: WorkClock) async throws -> Bool
}
