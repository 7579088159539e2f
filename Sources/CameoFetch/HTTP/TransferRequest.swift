internal import CameoHTTPCache

/// One hop: a GET of one URL, to be done by a ``TransferThread``.
struct TransferRequest: Sendable {
    let url: HTTPURL
    /// Sent only if the URL is of the origin that they were given for.
    let credentials: HTTPURL.Credentials?
    /// Validated (RFC 9110, section 5.5). What libcurl makes of its options, such as `User-Agent`, is not among them.
    let headers: HTTPFields
    /// Nil when any address may be connected to.
    let addressGuard: AddressGuard?
    /// What is left of the total time.
    let budget: Duration
    let purpose: FetchPurpose
}
