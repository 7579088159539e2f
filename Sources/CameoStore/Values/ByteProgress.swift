/// How far a walk over the store's contents is, in bytes.
package struct ByteProgress: Hashable, Sendable {
    package let done: Int
    /// May grow while others write.
    package let total: Int

    package init(done: Int, total: Int) {
        self.done = done
        self.total = total
    }
}
