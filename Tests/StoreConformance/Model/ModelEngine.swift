package import CameoStore

/// An engine that is compared with the model of the queue.
package protocol ModelEngine: StoreEngine {
    /// How long a worker may be silent beyond its lease before it counts as dead, in milliseconds. Then its death also
    /// counts against the jobs that it lost to its silence. Nil if the engine knows the death of a worker in another
    /// way.
    var silenceOfTheDead: Int64? { get }
    /// Whether a dead worker may seem to be alive for a moment: other tests start programs, and between fork and exec a
    /// child has a copy of its lock.
    var mayLockOutliveItsWorker: Bool { get }
    /// The texts that a query of one column yields; it is SQL that all engines understand.
    func column(_ query: String, of store: any Store) async throws -> [String]
    /// Inserts a job as another program does, whose rows the next process of Cameo accepts: its request as JSON, and
    /// when the row was created, in milliseconds since 1970.
    func insert(_ request: String, at time: Int64, in store: any Store) async throws
    /// Changes a job in a transaction that fails before its end.
    ///
    /// - Throws: `StoreError`, always.
    func tear(_ change: BulkChange, of job: Int64, in store: any Store) async throws
}
