public import CameoModel
public import Foundation

/// Selects jobs for a list or an operator's command.
public struct JobFilter: Hashable, Sendable {
    /// The states to match; empty: all.
    public var states: [JobState] = []
    /// The codes of the last failure to match; empty: any, and jobs without a failure.
    public var codes: [JobFailure.Code] = []
    /// The queue to match; nil: any.
    public var queue: String?
    /// The batch to match; nil: any or none.
    public var batch: String?
    /// The prefix of the source to match, e.g. `https://shop.example/`; nil: any.
    public var sourcePrefix: String?
    /// The earliest time of creation to match; nil: any. Ids are taken to ascend with time.
    public var createdSince: Date?
    /// Matches only smaller ids: the last id of the previous page.
    package var before: Int64?
    package var limit = 50

    /// Creates a filter that matches every job.
    public init() {}
}
