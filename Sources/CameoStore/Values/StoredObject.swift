package import CameoModel
package import Foundation

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
