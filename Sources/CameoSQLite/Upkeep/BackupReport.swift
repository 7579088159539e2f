internal import CameoStore

/// The content of a backup.
public struct BackupReport: Hashable, Codable, Sendable {
    /// The number of jobs in any state.
    public let jobs: Int
    /// The number of blobs.
    public let blobs: Int
    /// The size of the database and of blob files in bytes.
    public let bytes: Int
    /// The digests of blobs that are missing or damaged in the store itself, and so missing in the copy.
    public let damaged: [String]
}
