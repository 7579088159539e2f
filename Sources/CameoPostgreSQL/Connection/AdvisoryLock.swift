/// Locks that a transaction takes on rows of `total` that nobody changes, and that its end releases. Session locks would not
/// survive a pooler, and advisory locks may be taken by every role that may connect.
enum RowLock: String {
    /// Of claims that count running jobs because of a limit.
    case limitedClaim = "lock of limited claims"
    /// Of the folding of counts.
    case fold = "lock of the folding of counts"
}

/// Locks for what has no row yet.
enum AdvisoryLock: String {
    /// Of the creation or migration of the tables.
    case schema

    /// "Came" in ASCII: the locks' class.
    private static let family: Int32 = 0x4361_6D65
    /// The class of locks of unique keys.
    static let uniqueKeys = family + 1
    /// The class of locks of idempotency keys.
    static let firstReceipts = family + 2

    /// The arguments of `pg_advisory_xact_lock` and its like.
    func arguments(schema: String) -> String {
        // FNV-1a
        var hash: UInt32 = 2_166_136_261
        for byte in "\(schema).\(rawValue)".utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return "\(Self.family), \(Int32(bitPattern: hash))"
    }
}
