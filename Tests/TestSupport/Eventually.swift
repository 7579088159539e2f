/// What a test waited for in vain.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Returns once something is so, which it asks every few milliseconds. It ends with its task, as a test's time limit
/// ends it, and once it has waited for so long that it will never be so: a guard against hanging, no measure of speed.
///
/// - Parameters:
///   - what: what it waits for, as in "the worker is idle".
///   - limit: how long.
///   - condition: whether it is so.
/// - Throws: ``NeverHappened``; what `condition` throws; `CancellationError`.
package func eventually(
    _ what: String,
    within limit: Duration = .seconds(300),
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NeverHappened("not within \(limit): \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
