internal import Foundation

/// An `http:` or `https:` URL, taken apart by libcurl.
struct HTTPURL: Sendable {
    /// What stands before the host's "@", decoded.
    struct Credentials: Sendable {
        let user: String
        let password: String

        /// As the header `Authorization` has them (RFC 7617).
        var basic: String { "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())" }
    }

    /// Where a request goes; connections are shared by, and secrets are kept to, one origin.
    struct Origin: Hashable, Sendable, CustomStringConvertible {
        let scheme: String
        let host: String
        let port: Int

        var description: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    /// Why some text is not such a URL.
    enum ParsingError: Error {
        case malformed(String)
        /// It is a URL of another scheme.
        case scheme(String)
    }

    /// Without credentials and fragment.
    let text: String
    let origin: Origin
    let credentials: Credentials?

    var host: String { origin.host }
    var port: Int { origin.port }

    /// - Parameters:
    ///   - text: a URL, or a reference.
    ///   - base: the URL in which a reference stands, such as in a `Location` header.
    /// - Throws: why it is no HTTP URL.
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
            credentials = Credentials(user: user ?? "", password: password ?? "")
        } else {
            credentials = nil
        }
        url.removeCredentials()
        guard let text = url.text(.whole) else { throw .malformed("it cannot be written down") }
        self.text = text
    }
}
