package import CameoModel
package import Foundation

/// A blob's bytes for a reader who need not have all of them in memory.
package enum BlobBytes: Sendable {
    /// They have their digest.
    case inMemory(Data)
    /// An open file of this many bytes, to be read by position. Whoever reads it sees to it that they have their digest.
    case file(OpenFile, count: Int)
}
