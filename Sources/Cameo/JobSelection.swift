internal import CameoModel
internal import CameoStore

/// Jobs by what they are: those that meet all that is said here.
public struct JobSelection: Hashable, Sendable {
    /// Empty: any state, and for a change those to which it is usually made.
    public var states: Set<JobState>
    /// Codes of the last failure, as `source.timeout`; `proto-json/README.md` lists them. Empty: whatever it was, and
    /// also jobs without one.
    public var codes: Set<String>
    /// Nil: of any queue.
    public var queue: String?
    /// Nil: of any batch, and of none.
    public var batch: String?
    /// What the source begins with, as `https://shop.example/`. Nil: any source.
    public var source: String?

    /// What is left out is not asked for.
    public init(
        states: Set<JobState> = [],
        codes: Set<String> = [],
        queue: String? = nil,
        batch: String? = nil,
        source: String? = nil
    ) {
        self.states = states
        self.codes = codes
        self.queue = queue
        self.batch = batch
        self.source = source
    }

    var isEmpty: Bool { self == JobSelection() }

    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a code that there is not, an empty source, or a limit
    ///   below 1.
    func filter(limit: Int) throws(CameoError) -> JobFilter {
        guard limit >= 1 else { throw .invalidRequest(field: "limit", reason: "must be at least 1, not \(limit)") }
        // Every source begins so: all jobs would be meant.
        guard source != "" else { throw .invalidRequest(field: "source", reason: "must not be empty") }
        var filter = JobFilter()
        filter.states = CameoModel.JobState.allCases.filter { states.contains(JobState($0)) }
        for code in codes {
            guard let code = JobFailure.Code(rawValue: code) else {
                throw .invalidRequest(field: "codes", reason: "there is no failure \"\(code)\"")
            }
            filter.codes.append(code)
        }
        (filter.queue, filter.batch, filter.sourcePrefix, filter.limit) = (queue, batch, source, limit)
        return filter
    }
}
