internal import CameoStore

/// What a backup holds.
package struct BackupReport: Hashable, Codable, Sendable {
    package let jobs: Int
    package let blobs: Int
    /// Of the database and of the blobs beside it.
    package let bytes: Int
    /// Digests of blobs that the store itself no longer has whole. They are missing in the copy too.
    package let damaged: [String]
}
