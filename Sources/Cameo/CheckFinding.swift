internal import CameoSQLite

/// One thing that ``Client/check()`` looked at.
public struct CheckFinding: Hashable, Sendable {
    /// How bad it is.
    public enum Severity: Hashable, Sendable {
        /// All is well.
        case sound
        /// Nothing is lost by it, but somebody should look.
        case warning
        /// Something is missing or wrong, and has to be mended.
        case damaged
    }

    /// What was looked at, as `blobs`.
    public let subject: String
    /// Whether anything has to be done.
    public let severity: Severity
    /// What was found and, unless all is well, how to mend it.
    public let message: String

    init(_ finding: CameoSQLite.CheckFinding) {
        subject = finding.subject
        severity =
            switch finding.severity {
            case .ok, .mended: .sound
            case .warning: .warning
            case .error: .damaged
            }
        message = finding.message
    }
}
