internal import CameoSQLite

/// What a copy of a store holds.
public struct Backup: Hashable, Sendable {
    /// Jobs of any state.
    public let jobs: Int
    /// Pictures and thumbnails as bytes.
    public let blobs: Int
    /// Of the database and of the blobs beside it.
    public let bytes: Int
    /// Digests of blobs that the store itself no longer has whole: the copy lacks them too.
    public let damaged: [String]

    init(_ report: BackupReport) {
        (jobs, blobs, bytes, damaged) = (report.jobs, report.blobs, report.bytes, report.damaged)
    }
}
