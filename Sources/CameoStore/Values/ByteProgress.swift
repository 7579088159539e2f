/// The progress of a scan of the store, in bytes.
package struct ByteProgress: Hashable, Sendable {
    package let done: Int
    /// The total, which may grow while others write.
    package let total: Int

    package init(done: Int, total: Int) {
        self.done = done
        self.total = total
    }
}
