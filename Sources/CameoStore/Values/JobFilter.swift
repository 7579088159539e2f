public import CameoModel

/// Which jobs a list shows, or an operator's command changes.
public struct JobFilter: Hashable, Sendable {
    /// Empty: all states.
    public var states: [JobState] = []
    /// Codes of the last failure. Empty: whatever it was, and also jobs without one.
    public var codes: [JobFailure.Code] = []
    /// Nil: of any queue.
    public var queue: String?
    /// Nil: of any batch, and of none.
    public var batch: String?
    /// What the source's text begins with, as `https://shop.example/`; nil: any.
    public var sourcePrefix: String?
    /// Only jobs with smaller ids: the last one of the page before.
    package var before: Int64?
    package var limit = 50

    /// Every job.
    public init() {}
}
