internal import Foundation

/// An `http:` or `https:` URL, parsed by libcurl.
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
        let url: CurlURL
        do throws(CurlURLError) {
            url = try CurlURL(parsing: text, relativeTo: base?.text)
        } catch {
            throw .malformed(error.description)
        }
        try self.init(url)
    }

    private init(_ whole: consuming CurlURL) throws(ParsingError) {
        var url = whole
        guard let scheme = url.text(.scheme)?.lowercased() else { throw .malformed("it has no scheme") }
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
        guard let host = url.text(.host)?.lowercased(), !host.isEmpty else { throw .malformed("it has no host") }
        guard let port = url.text(.port).flatMap({ Int($0) }) else { throw .malformed("it has no port") }
        let isLiteral = host.first == "[" && host.last == "]"
        origin = Origin(scheme: scheme, host: isLiteral ? String(host.dropFirst().dropLast()) : host, port: port)
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
        guard let text = url.text(.whole) else { throw .malformed("it cannot be written down") }
        self.text = text
    }
}
