package struct RescueReport: Hashable, Sendable {
    /// Jobs that are available again.
    package var rescued = 0
    /// Jobs that were cancelled because others were already waiting for the same thumbnails.
    package var superseded = 0
    /// Jobs discarded as `worker.lost` after too many worker deaths.
    package var discarded: [LostJob] = []
    /// The ids of the dead or silent workers.
    package var workers: [String] = []

    package init() {}
}
