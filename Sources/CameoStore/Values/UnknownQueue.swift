/// What may become of a queue's name that no job has had so far.
package enum UnknownQueue: Sendable {
    /// Likely a misspelling.
    case refused
    /// Made, so that it can be set up before its first job.
    case created
}
