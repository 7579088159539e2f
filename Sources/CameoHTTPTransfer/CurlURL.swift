internal import CCurl

/// The server of a URL. The URL that is checked and the URL that libcurl connects to come from the same parser; a difference
/// between two parsers is a classic way around address guards.
package struct CurlURL {
    /// Why a text is not such a URL.
    package struct ParsingError: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// In lower case; a literal of IPv6 in brackets.
    package let host: String
    package let port: Int
    /// The user name and the password, decoded, with a colon between them; nil if there are none.
    package let credentials: String?
    /// The URL without credentials and fragment.
    package let text: String

    package init(parsing text: String) throws(ParsingError) {
        let url = curl_url()
        defer { curl_url_cleanup(url) }
        let code = url.map { curl_url_set($0, CURLUPART_URL, text, 0) } ?? CURLUE_OUT_OF_MEMORY
        guard code == CURLUE_OK else { throw ParsingError(reason: String(cString: curl_url_strerror(code))) }
        /// The part; nil if it is missing or decodes to a control character.
        func part(_ name: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var part: UnsafeMutablePointer<CChar>?
            guard curl_url_get(url, name, &part, flags) == CURLUE_OK, let part else { return nil }
            defer { curl_free(part) }
            return String(cString: part)
        }
        guard let host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty else {
            throw ParsingError(reason: "it has no host")
        }
        guard let port = part(CURLUPART_PORT, cameo_curl_url_has_default_port).flatMap({ Int($0) }) else {
            throw ParsingError(reason: "it has no port")
        }
        let decodes = cameo_curl_url_decodes
        let words = [CURLUPART_USER, CURLUPART_PASSWORD].map { (own: part($0), decoded: part($0, decodes)) }
        guard words.allSatisfy({ $0.decoded != nil || $0.own == nil }) else {
            throw ParsingError(reason: "its user name or password has a control character")
        }
        for secret in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            curl_url_set(url, secret, nil, 0)
        }
        guard let root = part(CURLUPART_URL) else { throw ParsingError(reason: "it cannot be written down") }
        (self.host, self.port, self.text) = (host, port, root)
        credentials = words.contains { $0.own != nil } ? words.map { $0.decoded ?? "" }.joined(separator: ":") : nil
    }
}
