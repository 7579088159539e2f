package import CameoModel
package import Foundation

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

/// Bytes in a ``ByteStorage``, as its listing describes them.
package struct StoredObject: Hashable, Sendable {
    package let digest: BlobDigest
    /// The number of bytes.
    package let size: Int
    /// When they were last written, by the storage's clock.
    package let storedAt: Date

    package init(digest: BlobDigest, size: Int, storedAt: Date) {
        self.digest = digest
        self.size = size
        self.storedAt = storedAt
    }
}
