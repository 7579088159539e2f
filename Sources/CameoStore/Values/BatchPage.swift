package import CameoModel

/// A page of a list of batches.
package struct BatchPage: Hashable, Sendable {
    package let batches: [BatchReport]
    /// The cursor of the next page; nil after the last one.
    package let next: Int64?

    package init(batches: [BatchReport], next: Int64?) {
        self.batches = batches
        self.next = next
    }
}
