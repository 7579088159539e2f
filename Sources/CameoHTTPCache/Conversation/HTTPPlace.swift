/// An `http:` or `https:` URL that redirects can be resolved against.
///
/// Each driver has its own type, based on the URL parser that its connections use: if two parsers disagreed, a request and
/// its credentials could go to a host that was never checked.
package protocol HTTPPlace: Sendable {
    associatedtype Origin: Equatable

    /// The URL without user information and fragment.
    var text: String { get }
    /// The scheme, host and port (RFC 6454). Credentials never leave an origin.
    var origin: Origin { get }

    /// Resolves a reference, such as a `Location`.
    ///
    /// - Returns: an `http:` or `https:` URL without user information, and the `Authorization` that the user information
    ///   of the reference became; nil if it had none.
    /// - Throws: ``RedirectRefusal/malformed(location:reason:)``
    func resolving(_ reference: String) throws(RedirectRefusal) -> (place: Self, authorization: String?)
}

/// Why a redirect is not followed.
package enum RedirectRefusal: Error, Hashable, Sendable {
    /// The maximum number of redirects had already been followed.
    case tooMany(location: String)
    /// It leads to a scheme other than `http` and `https`.
    case unsupportedScheme(location: String)
    case malformed(location: String, reason: String)
}
