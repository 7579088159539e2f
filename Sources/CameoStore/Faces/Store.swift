// DESIGN. A store has four kinds of user, and each has its own protocol of value types. An engine implements these calls
// and nothing else. They expose no SQL, path or transaction; each call preserves the invariants of its transition, and what
// it returns is durable.

/// A store with all its protocols, as programs open it.
package typealias Store = ProducerStore & WorkerStore & ReaderStore & OperatorStore

/// The base of all store protocols.
package protocol AnyStore: Sendable {
    /// The name that reopens the store; for a folder, its absolute path without symbolic links.
    var location: String { get }
    /// The absolute path, without symbolic links, of the folder that holds the store's files on this machine, which nobody
    /// else should read or write; nil if there is none.
    var folder: String? { get }
    var clock: StoreClock { get }
    /// How long a worker may be silent before others take its jobs. It extends its lease well within this time.
    var lease: Duration { get }
    /// Whether the store is still at its location; false once it was removed or replaced.
    var isInPlace: Bool { get }
    /// What whoever runs the store should change before it does harm; nil: nothing.
    var caution: String? { get }
    /// Why a commit of this process has had no answer for seconds; nil: none waits.
    var commitWait: String? { get }
    /// Calls `tell` with each new reason of ``commitWait``.
    func onCommitWait(_ tell: @escaping @Sendable (String) -> Void)
    /// Lets nobody wait for such a commit after `grace`: the program ends.
    func expectEnd(within grace: Duration)
    /// A number that changes whenever any process commits. Reading it takes microseconds.
    func version() async throws(StoreError) -> Int
    /// Yields once at the start and whenever any process may have changed something, after which it pauses: a busy
    /// store costs one wake-up in each `pause`. Ends only when its task is cancelled.
    func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void>
    /// Does the same for a caller that only wants to know of jobs to claim. Other changes may wake it too.
    func wakeUpsOfWork(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void>
    /// Completes work that calls left for after their return. For a program that is about to exit.
    func finish() async
    /// Like ``finish()``, but blocks. For a program that exits at once.
    func close()
}

/// The limits of one call.
package enum StoreLimits {
    /// The recommended maximum number of requests per call, and so per transaction: more would block other writers for
    /// long.
    package static let enqueueChunk = 1_000
    /// The maximum size of an uploaded picture in bytes.
    package static let uploadBytes = 104_857_600
}

extension AnyStore {
    package func wakeUpsOfWork(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> { wakeUps(pause: pause) }

    /// Finishes the store after the body, however that ends.
    package func finishing<Value>(_ body: () async throws -> Value) async throws -> Value {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await finish()
        return try result.get()
    }

    package var caution: String? { nil }
    package var commitWait: String? { nil }
    package func onCommitWait(_ tell: @escaping @Sendable (String) -> Void) {}
    package func expectEnd(within grace: Duration) {}
}
