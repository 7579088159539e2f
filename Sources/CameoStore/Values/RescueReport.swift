/// What a rescue found.
package struct RescueReport: Hashable, Sendable {
    /// Jobs that wait again.
    package var rescued = 0
    /// Jobs that are cancelled: others were waiting for the same thumbnails already.
    package var superseded = 0
    /// Jobs given up as `worker.lost`, after too many deaths.
    package var discarded: [LostJob] = []
    /// Ids of the workers that were dead or silent.
    package var workers: [String] = []

    package init() {}
}
