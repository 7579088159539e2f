// DESIGN. A store has eight kinds of user, and each has its own small protocol of value types. An engine implements these
// calls and nothing else. They expose no SQL, path or transaction; each call preserves the invariants of its
// transition, and what it returns is durable.

/// A store with all its protocols, as programs open it.
package typealias Store = ProducerStore & WorkerStore & ReaderStore & OperatorStore & SourceStore & BlobStore
    & HookStore & MetricsStore & CheckedStore

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
    /// A number that changes whenever any process commits. Reading it takes microseconds.
    func version() async throws(StoreError) -> Int
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
