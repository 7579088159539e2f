/// Whether a store is being worked on as it should be. JSON form: `proto-json/health-report.schema.json`.
public struct HealthReport: Hashable, Codable, Sendable {
    /// One thing that was looked at.
    public struct Check: Hashable, Codable, Sendable {
        /// What a check is about.
        public enum Name: String, CaseIterable, Codable, Sendable {
            /// Whether enough workers are alive.
            case workers
            /// How long the longest-waiting due job of a queue that is neither paused nor a background queue has waited.
            case lag
        }

        /// What it is about.
        public let name: Name
        /// Whether it is as it should be.
        public let isHealthy: Bool
        /// What was found, and the limit, for a person.
        public let detail: String

        package init(name: Name, isHealthy: Bool, detail: String) {
            self.name = name
            self.isHealthy = isHealthy
            self.detail = detail
        }
    }

    /// Whether every check is.
    public let isHealthy: Bool
    /// All that was looked at.
    public let checks: [Check]

    package init(checks: [Check]) {
        isHealthy = checks.allSatisfy(\.isHealthy)
        self.checks = checks
    }
}
