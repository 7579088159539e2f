/// One hop: a GET of one URL, to be done by a ``TransferThread``.
struct TransferRequest: Sendable {
    let url: HTTPURL
    /// Sent only if the URL is of the origin that they were given for.
    let credentials: HTTPURL.Credentials?
    /// Names and values, validated (RFC 9110, section 5.5).
    let headers: [String: String]
    /// Nil when any address may be connected to.
    let addressGuard: AddressGuard?
    /// What is left of the total time.
    let budget: Duration
}
