internal import CameoStore

/// One thing that a check looked at.
public struct CheckFinding: Hashable, Codable, Sendable {
    /// How bad it is.
    public enum Severity: String, Codable, Sendable {
        case ok, warning, error
        /// It was bad, and a repair has just put it right.
        case mended
    }

    /// What was looked at, as `blobs`.
    public let subject: String
    /// Whether anything has to be done.
    public let severity: Severity
    /// What was found and, unless all is well, how to mend it.
    public let message: String

    init(_ subject: String, _ severity: Severity, _ message: String) {
        self.subject = subject
        self.severity = severity
        self.message = message
    }

    /// The first of the problems, as many as are to be named, and how many there are; or that all is well.
    init(
        _ subject: String,
        _ problems: [String],
        naming named: Int = 1,
        ok: String,
        mend: String,
        severity: Severity = .error
    ) {
        guard !problems.isEmpty else {
            self.init(subject, .ok, ok)
            return
        }
        let more = problems.count > named ? " (and \(problems.count - named) more)" : ""
        self.init(subject, severity, "\(problems.prefix(named).joined(separator: "; "))\(more). \(mend)")
    }
}
