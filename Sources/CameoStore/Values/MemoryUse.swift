/// What a memory of blobs holds, and how often it had what was asked for.
public struct MemoryUse: Hashable, Sendable {
    /// The maximum size in bytes; 0 if nothing is held.
    public let capacity: Int
    /// The size of the blobs in memory, each with a small surcharge for its bookkeeping.
    public internal(set) var bytes = 0
    /// The number of blobs in memory.
    public internal(set) var blobs = 0
    /// Reads that were answered from memory.
    public internal(set) var hits = 0
    /// Reads that went to the store's files.
    public internal(set) var misses = 0

    init(capacity: Int) {
        self.capacity = capacity
    }
}
