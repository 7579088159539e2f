/// Too many fetches wait for one host already; one more would only block its job's slot.
package struct HostBusy: Error, Hashable, Sendable {
    package let host: String
    /// The approximate time until a slot may be free.
    package let delay: Duration
}
