internal import CCurl
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
    struct ParsingError: Error {
        let reason: String
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
    init(parsing text: String, relativeTo base: HTTPURL? = nil) throws(ParsingError) {
        let web: WebURL
        do throws(WebURL.SchemeError) {
            web = try WebURL(text, relativeTo: base.flatMap { try? WebURL($0.text) })
        } catch {
            throw ParsingError(reason: error.scheme.map { "its scheme is \($0)" } ?? "it has no scheme")
        }
        let credentials = web.userInformation.map { "\($0)@" } ?? ""
        var url = try CurlURL(parsing: "\(web.scheme)://\(credentials)\(web.hostAndPort)/")
        guard let host = url.text(CURLUPART_HOST)?.lowercased(), !host.isEmpty else {
            throw ParsingError(reason: "it has no host")
        }
        guard let port = url.text(CURLUPART_PORT, cameo_curl_url_has_default_port).flatMap({ Int($0) }) else {
            throw ParsingError(reason: "it has no port")
        }
        let isLiteral = host.first == "[" && host.last == "]"
        origin = Origin(scheme: web.scheme, host: isLiteral ? String(host.dropFirst().dropLast()) : host, port: port)
        let (hasUser, hasPassword) = (url.text(CURLUPART_USER) != nil, url.text(CURLUPART_PASSWORD) != nil)
        if hasUser || hasPassword {
            let user = url.text(CURLUPART_USER, cameo_curl_url_decodes)
            let password = url.text(CURLUPART_PASSWORD, cameo_curl_url_decodes)
            guard user != nil || !hasUser, password != nil || !hasPassword else {
                throw ParsingError(reason: "its user name or password has a control character")
            }
            authorization = "Basic \(Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString())"
        } else {
            authorization = nil
        }
        url.removeCredentials()
        guard let root = url.text(CURLUPART_URL) else { throw ParsingError(reason: "it cannot be written down") }
        target = web.target
        self.text = root.dropLast() + web.target
    }
}

/// Sole owner of a URL parsed by libcurl. The URL that is checked and the URL that libcurl connects to come from the same
/// parser; a difference between two parsers is a classic way around address guards.
struct CurlURL: ~Copyable {
    private let handle: OpaquePointer

    /// - Throws: why the text is not a URL.
    init(parsing text: String) throws(HTTPURL.ParsingError) {
        let handle = curl_url()
        let code = handle.map { curl_url_set($0, CURLUPART_URL, text, 0) } ?? CURLUE_OUT_OF_MEMORY
        guard let handle, code == CURLUE_OK else {
            curl_url_cleanup(handle)
            throw HTTPURL.ParsingError(reason: String(cString: curl_url_strerror(code)))
        }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    mutating func removeCredentials() {
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            curl_url_set(handle, part, nil, 0)
        }
    }

    /// The part; nil if it is missing or decodes to a control character.
    func text(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
