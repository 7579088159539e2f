internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import Foundation

/// An `http:` or `https:` URL. Path and query are spelled as browsers do; the rest is parsed by libcurl, which connects.
struct HTTPURL: Sendable {
    /// Scheme, host and port. Connections are shared within one origin, and secrets never leave it.
    struct Origin: Hashable, Sendable, CustomStringConvertible {
        let scheme: String
        let host: String
        let port: Int

        var description: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    /// The URL without credentials and fragment.
    let text: String
    /// The path and the query.
    let target: String
    let origin: Origin
    /// The header that a user name and a password in the URL become (RFC 7617).
    let authorization: String?

    var host: String { origin.host }

    /// Parses a URL, or a reference, such as a `Location`, that is resolved against a base.
    ///
    /// - Throws: the reason why it is not an HTTP URL.
    init(parsing text: String, relativeTo base: HTTPURL? = nil) throws(CurlURL.ParsingError) {
        let web: WebURL
        do throws(WebURL.SchemeError) {
            web = try WebURL(text, relativeTo: base.flatMap { try? WebURL($0.text) })
        } catch {
            throw CurlURL.ParsingError(reason: error.scheme.map { "its scheme is \($0)" } ?? "it has no scheme")
        }
        let credentials = web.userInformation.map { "\($0)@" } ?? ""
        let url = try CurlURL(parsing: "\(web.scheme)://\(credentials)\(web.hostAndPort)/")
        let isLiteral = url.host.first == "[" && url.host.last == "]"
        let host = isLiteral ? String(url.host.dropFirst().dropLast()) : url.host
        origin = Origin(scheme: web.scheme, host: host, port: url.port)
        authorization = url.credentials.map { "Basic \(Data($0.utf8).base64EncodedString())" }
        target = web.target
        self.text = url.text.dropLast() + web.target
    }
}
