/// The result of one check.
public struct CheckFinding: Hashable, Codable, Sendable {
    /// The severity of a finding.
    public enum Severity: String, Codable, Sendable {
        case ok, warning, error
        /// A problem that a repair has just fixed.
        case mended
    }

    /// What was checked, e.g. `blobs`.
    public let subject: String
    /// How severe the finding is.
    public let severity: Severity
    /// What was found and, for a problem, how to fix it.
    public let message: String

    package init(_ subject: String, _ severity: Severity, _ message: String) {
        (self.subject, self.severity, self.message) = (subject, severity, message)
    }

    /// Names the first problems and counts the rest, or reports that there are none.
    package init(
        _ subject: String,
        _ problems: [String],
        naming named: Int = 1,
        ok: String,
        advice: String,
        severity: Severity = .error
    ) {
        guard !problems.isEmpty else {
            self.init(subject, .ok, ok)
            return
        }
        let more = problems.count > named ? " (and \(problems.count - named) more)" : ""
        self.init(subject, severity, "\(problems.prefix(named).joined(separator: "; "))\(more). \(advice)")
    }
}
