internal import CameoHTTPCache
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

    /// Why a text is not such a URL.
    enum ParsingError: Error {
        case malformed(String)
        /// The URL has another scheme.
        case scheme(String)
    }

    /// The URL without credentials and fragment.
    let text: String
    /// The path and the query.
    let target: String
    let origin: Origin
    /// The header that a user name and a password in the URL become (RFC 7617).
    let authorization: String?

    var host: String { origin.host }
    var port: Int { origin.port }

    /// - Parameters:
    ///   - text: a URL, or a reference.
    ///   - base: the URL against which a reference, such as a `Location`, is resolved.
    /// - Throws: the reason why it is not an HTTP URL.
    init(parsing text: String, relativeTo base: HTTPURL? = nil) throws(ParsingError) {
        let web: WebURL
        do throws(WebURL.SchemeError) {
            web = try WebURL(text, relativeTo: base.flatMap { try? WebURL($0.text) })
        } catch {
            throw error.scheme.map { .scheme($0) } ?? .malformed("it has no scheme")
        }
        var url: CurlURL
        do throws(CurlURLError) {
            let credentials = web.userInformation.map { "\($0)@" } ?? ""
            url = try CurlURL(parsing: "\(web.scheme)://\(credentials)\(web.hostAndPort)/")
        } catch {
            throw .malformed(error.description)
        }
        guard let host = url.text(.host)?.lowercased(), !host.isEmpty else { throw .malformed("it has no host") }
        guard let port = url.text(.port).flatMap({ Int($0) }) else { throw .malformed("it has no port") }
        let isLiteral = host.first == "[" && host.last == "]"
        origin = Origin(scheme: web.scheme, host: isLiteral ? String(host.dropFirst().dropLast()) : host, port: port)
        if url.has(.user) || url.has(.password) {
            let user = url.text(.user), password = url.text(.password)
            guard user != nil || !url.has(.user), password != nil || !url.has(.password) else {
                throw .malformed("its user name or password has a control character")
            }
            authorization = "Basic \(Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString())"
        } else {
            authorization = nil
        }
        url.removeCredentials()
        guard let root = url.text(.whole) else { throw .malformed("it cannot be written down") }
        target = web.target
        self.text = root.dropLast() + web.target
    }
}
