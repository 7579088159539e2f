package import CameoModel

/// A job that was to make a thumbnail.
package struct Promise: Hashable, Sendable {
    package let job: Int64
    /// Why it ended without it; nil: it has not ended.
    package let code: JobFailure.Code?

    /// How long it is kept that a job ended without what it promised, in milliseconds: a week.
    package static let age: Int64 = 604_800_000

    package init(job: Int64, code: JobFailure.Code?) { (self.job, self.code) = (job, code) }
}
