package import CameoModel

/// A request for one source.
package struct SourceRequest: Sendable {
    /// The URI as requested, under which responses are cached.
    package let uri: String
    /// The URI to fetch from: the requested one, or the one that the operator rewrote it to.
    package let target: String
    /// Headers to send, if the target's scheme has headers.
    package let headers: [String: String]
    /// The start of the fetch. Without a ticket, the fetch is not shared and bypasses the cache.
    package let ticket: FetchTicket?
    package let purpose: FetchPurpose
    /// The clock that is told about every wait for a slot.
    package let clock: WorkClock
}
