public import CameoModel
public import Foundation

/// An operator's change to many jobs at once.
package enum BulkChange: String, Sendable {
    case retry, cancel

    /// The default states: discarded jobs for a retry, unfinished jobs for a cancellation.
    package var usualStates: [JobState] {
        switch self {
        case .retry: [.discarded]
        case .cancel: JobState.allCases.filter { !$0.isFinal }
        }
    }

    /// Whether the change affects jobs in this state.
    package func applies(to state: JobState) -> Bool {
        switch self {
        case .retry: state != .available && state != .running
        case .cancel: !state.isFinal
        }
    }

    /// The filter restricted to the usual states if it names none.
    ///
    /// - Throws: ``Inapplicable`` for a state that the change does not affect.
    package func meant(by filter: JobFilter) throws(Inapplicable) -> JobFilter {
        if let state = filter.states.first(where: { !applies(to: $0) }) { throw Inapplicable(state: state) }
        var filter = filter
        if filter.states.isEmpty { filter.states = usualStates }
        return filter
    }

    /// A filter names a state that the change does not affect.
    package struct Inapplicable: Error, Hashable {
        package let state: JobState
    }
}

/// The progress of a bulk change.
public struct BulkProgress: Hashable, Encodable, Sendable {
    /// Jobs that matched the filter before the first change, up to its limit.
    public let matched: Int
    /// Jobs that were changed.
    public var changed = 0
    /// Jobs skipped because they had left the selected states.
    public var passed = 0

    package init(matched: Int) {
        self.matched = matched
    }
}

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
    /// The label of the request to match; nil: any or none.
    public var label: String?
    /// The concurrency key of the request to match; nil: any or none.
    public var concurrencyKey: String?
    /// The tenant of the request to match; nil: any or none.
    public var tenant: String?
    /// The prefix of the source to match, e.g. `https://shop.example/`; nil: any.
    public var sourcePrefix: String?
    /// The earliest time of creation to match; nil: any. Ids are taken to ascend with time.
    public var createdSince: Date?
    /// Matches only smaller ids: the last id of the previous page.
    package var before: Int64?
    package var limit = 50

    /// Creates a filter that matches every job.
    public init() {}

    /// Matches the jobs of a batch; nil: every job.
    package init(batch: String?) { self.batch = batch }
}

/// Which tenants of each queue are listed.
package struct TenantChoice: Sendable {
    package enum Order: Sendable {
        case longestWaiting, mostSpent
    }

    package let order: Order
    /// The most of each queue; nil: all.
    package let limit: Int?
    /// Only those of fair queues.
    package let ofFairQueues: Bool

    package static let all = TenantChoice(order: .longestWaiting, limit: nil, ofFairQueues: false)
    package static let sharing = TenantChoice(order: .longestWaiting, limit: nil, ofFairQueues: true)

    package init(order: Order, limit: Int?, ofFairQueues: Bool) {
        (self.order, self.limit, self.ofFairQueues) = (order, limit, ofFairQueues)
    }
}

/// Tenants, and what all of their queues have had, in seconds of processors.
package struct TenantList: Sendable {
    package var tenants: [StatusReport.Tenant] = []
    package var cpuSeconds: [String: Double] = [:]

    package init() {}
}

/// A page of a list of batches, and the cursor of the next page; nil after the last one.
package typealias BatchPage = (batches: [BatchReport], next: Int64?)

/// Whether the jobs of background queues count.
package enum BackgroundJobs: Hashable, Sendable {
    case included
    /// As outside the quiet hours of a worker.
    case excluded
}

/// How to treat the name of a queue that no job has used.
package enum UnknownQueue: Sendable {
    /// Refused as a likely misspelling.
    case refused
    /// Created, so that the queue can be set up before its first job.
    case created
}
