package import CameoModel

/// One wish for a source.
package struct SourceRequest: Sendable {
    /// As it was asked for: what its answers are cached under.
    package let uri: String
    /// Where it is fetched from: the URI itself, or what the operator rewrote it to.
    package let target: String
    /// Sent with the request where the target's scheme has such.
    package let headers: [String: String]
    /// When the fetch began. Without one nothing is shared, nothing is taken from a cache and nothing kept in it.
    package let ticket: FetchTicket?
    package let purpose: FetchPurpose
    /// Told of every wait for a place.
    package let clock: WorkClock
}
