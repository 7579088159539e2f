package import CameoModel

/// A job that was discarded because its workers died, or refused at acceptance.
package struct LostJob: Hashable, Sendable {
    package let id: Int64
    package let source: String?
    package let queue: String
    package let attempt: Int
    package let failure: JobFailure

    package init(id: Int64, source: String?, queue: String, attempt: Int, failure: JobFailure) {
        self.id = id
        self.source = source
        self.queue = queue
        self.attempt = attempt
        self.failure = failure
    }
}
