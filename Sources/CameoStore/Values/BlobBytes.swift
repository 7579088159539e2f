package import CameoModel
package import Foundation

/// A blob's bytes, in memory or in a file that the reader reads piece by piece.
package enum BlobBytes: Sendable {
    /// The bytes, already verified against their digest.
    case inMemory(Data)
    /// An open file of `count` bytes, to be read by position. The reader must verify the bytes against their digest.
    case file(OpenFile, count: Int)
}
