/// A page of what is in a ``ByteStorage``.
package struct StoredObjectPage: Hashable, Sendable {
    package var objects: [StoredObject]
    /// Other names found in the storage's place, which Cameo did not write and never touches.
    package var foreign: [String]
    /// The cursor of the next page; nil after the last.
    package var next: String?

    package init(objects: [StoredObject] = [], foreign: [String] = [], next: String? = nil) {
        self.objects = objects
        self.foreign = foreign
        self.next = next
    }
}
