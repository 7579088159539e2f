// DESIGN. A store is asked by six kinds of user, and each has a face of its own: small protocols of value types, so that an
// engine is these calls and nothing else. None of them knows SQL, a path or a transaction; each call keeps the invariants
// of its own transition, and what it returns is durable.

/// A store with all its faces: what the programs open.
package typealias Store = ProducerStore & WorkerStore & ReaderStore & OperatorStore & SourceStore & BlobStore

/// What every face has.
package protocol AnyStore: Sendable {
    /// What opens the store again: for one in a folder, its path, absolute and without links.
    var location: String { get }
    var clock: StoreClock { get }
    /// Whether it still lies where it was opened; false once it was removed or replaced.
    var isInPlace: Bool { get }
    /// Changes whenever any process commits. Costs microseconds.
    func version() async throws(StoreError) -> Int
    /// Ends what calls leave to be done after they were answered. For a program that is about to end.
    func finish() async
    /// The same for one that ends at once; blocks.
    func close()
}

/// Limits of what one call takes.
package enum StoreLimits {
    /// Requests of one call and so of one transaction, at the most advisable: more would hold others up for long.
    package static let enqueueChunk = 1_000
    /// Bytes of a picture that is handed over with its request.
    package static let uploadBytes = 104_857_600
}
