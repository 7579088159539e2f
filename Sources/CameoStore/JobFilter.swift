package import CameoModel
internal import GRDB

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

extension JobFilter {
    /// The condition on a row of `job`, without the limit.
    var condition: (sql: String, arguments: StatementArguments) {
        var terms: [String] = []
        var arguments = StatementArguments()
        func require(_ term: String, _ values: [any DatabaseValueConvertible]) {
            terms.append(term)
            arguments += StatementArguments(values)
        }
        func places(_ count: Int) -> String { repeatElement("?", count: count).joined(separator: ", ") }
        if !states.isEmpty { require("state IN (\(places(states.count)))", states.map(\.rawValue)) }
        if !codes.isEmpty {
            require("json_extract(failure, '$.code') IN (\(places(codes.count)))", codes.map(\.rawValue))
        }
        if let queue { require("queue = ?", [queue]) }
        if let batch { require("id IN (SELECT job_id FROM batch_job WHERE batch = ?)", [batch]) }
        if let sourcePrefix {
            // Not LIKE, to which letters of either case are the same and `_` is any.
            require("substr(json_extract(request, '$.source'), 1, length(?)) = ?", [sourcePrefix, sourcePrefix])
        }
        if let before { require("id < ?", [before]) }
        return (terms.isEmpty ? "TRUE" : terms.joined(separator: " AND "), arguments)
    }
}
