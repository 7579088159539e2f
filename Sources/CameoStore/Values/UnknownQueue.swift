/// How to treat the name of a queue that no job has used.
package enum UnknownQueue: Sendable {
    /// Refused as a likely misspelling.
    case refused
    /// Created, so that the queue can be set up before its first job.
    case created
}
