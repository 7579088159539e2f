internal import CameoHTTPCache
internal import Foundation

/// A GET of one URL, or a POST to it, carried out by a ``TransferThread``.
struct TransferRequest: Sendable {
    let url: HTTPURL
    /// Valid header lines (RFC 9110, section 5.5), without those that libcurl derives from options, such as `User-Agent`.
    let headers: HTTPFields
    /// Checks the address of each connection; nil allows any.
    let addressGuard: AddressGuard?
    /// The rest of the total time.
    var budget: Duration
    let purpose: FetchPurpose
    /// What redirects have set so far. Only those whose domain, path and scheme fit are sent (RFC 6265).
    var cookies: [String] = []
    /// Whether content codings are decoded.
    var decodes = true
    /// What a POST sends; nil for a GET.
    var body: Data?
    /// The download whose rest is requested.
    var resumption: Resumption?
    /// The bytes of a response that are requested, instead of the whole.
    var part: (bytes: Range<Int>, response: PartialResponse)?
    /// Whether the transfer ends after the first bytes if they are a large video's whose parts can be requested.
    var stopsAtVideo = false
}
