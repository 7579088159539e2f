public import Foundation

/// What became of a batch that was sealed, once none of its jobs was left. JSON form: `proto-json/batch-end.schema.json`.
public struct BatchEnd: Hashable, Codable, Sendable {
    /// The same each time that this end is told, and never that of another.
    public let id: String
    /// The batch's name.
    public let batch: String
    /// Which end of the batch it is, from 1: jobs that come later open the batch again.
    public let number: Int
    /// The hook that is told; nil: none.
    public let hook: String?
    /// When the batch was sealed.
    public let sealedAt: Date
    /// When none of its jobs was left.
    public let endedAt: Date
    /// Its jobs by final state; a state without jobs is 0.
    public let jobs: [JobState: Int]
    /// The reasons why jobs were discarded, the most frequent first.
    public let failures: [BatchReport.Failures]
    /// The thumbnails that it has.
    public let thumbnails: Int
    /// The size of these in bytes.
    public let bytes: Int

    /// `report` is of the batch as it is now.
    package init(
        id: String,
        batch: String,
        number: Int,
        hook: String?,
        sealedAt: Date,
        endedAt: Date,
        report: BatchReport,
        thumbnails: (count: Int, bytes: Int)
    ) {
        (self.id, self.batch, self.number, self.hook) = (id, batch, number, hook)
        (self.sealedAt, self.endedAt) = (sealedAt, endedAt)
        let states = JobState.allCases.filter(\.isFinal)
        jobs = Dictionary(uniqueKeysWithValues: states.map { ($0, report.count($0)) })
        failures = report.failures
        (self.thumbnails, bytes) = thumbnails
    }
}

/// What says that a batch is complete: once none of its jobs is left, it has ended.
package struct BatchSeal: Hashable, Sendable {
    package let batch: String
    /// The hook that is told of the end.
    package let hook: String?

    /// Names as requests have them.
    package init(batch: String, hook: String?) throws(InvalidRequest) {
        try ThumbnailRequest.check(name: batch, at: "batch")
        if let hook { try ThumbnailRequest.check(hook: hook) }
        (self.batch, self.hook) = (batch, hook)
    }

    /// Reads the body of an HTTP request, `{"hook": "site"}` or `{}`.
    package init(batch: String, body: JSONValue) throws(InvalidRequest) {
        try self.init(batch: batch, hook: JSONObjectReader(body, at: "", fields: ["hook"]).string("hook"))
    }
}
