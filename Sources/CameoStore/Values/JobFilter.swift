package import CameoModel

/// Which jobs a list shows, or an operator's command changes.
package struct JobFilter: Hashable, Sendable {
    /// Empty: all states.
    package var states: [JobState] = []
    /// Codes of the last failure. Empty: whatever it was, and also jobs without one.
    package var codes: [JobFailure.Code] = []
    package var queue: String?
    package var batch: String?
    /// What the source's text begins with.
    package var sourcePrefix: String?
    /// Only jobs with smaller ids: the last one of the page before.
    package var before: Int64?
    package var limit = 50

    package init() {}
}
