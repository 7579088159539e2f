internal import CameoStore

/// What a backup holds.
public struct BackupReport: Hashable, Codable, Sendable {
    /// Jobs of any state.
    public let jobs: Int
    /// Pictures and thumbnails.
    public let blobs: Int
    /// The length of the database and of the blobs beside it.
    public let bytes: Int
    /// Digests of blobs that the store itself no longer has whole. They are missing in the copy too.
    public let damaged: [String]
}
