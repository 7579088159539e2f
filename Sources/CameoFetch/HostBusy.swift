/// Too many wait for a transfer from one host already: better not to wait than to be in others' way meanwhile.
package struct HostBusy: Error, Hashable, Sendable {
    package let host: String
    /// After about this long there may be a place.
    package let delay: Duration
}
