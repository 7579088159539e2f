internal import CCurl

/// Sole owner of a URL parsed by libcurl. The URL that is checked and the URL that libcurl connects to come from the same
/// parser; a difference between two parsers is a classic way around address guards.
struct CurlURL: ~Copyable {
    /// Part of a URL.
    enum Part {
        case user, password, host, port
        /// The whole URL, without credentials and fragment after ``removeCredentials()``.
        case whole

        fileprivate var code: (CURLUPart, flags: UInt32) {
            switch self {
            case .user: (CURLUPART_USER, cameo_curl_url_decodes)
            case .password: (CURLUPART_PASSWORD, cameo_curl_url_decodes)
            case .host: (CURLUPART_HOST, 0)
            case .port: (CURLUPART_PORT, cameo_curl_url_has_default_port)
            case .whole: (CURLUPART_URL, 0)
            }
        }
    }

    private let handle: OpaquePointer

    /// - Throws: why the text is not a URL.
    init(parsing text: String) throws(CurlURLError) {
        guard let handle = curl_url() else { throw CurlURLError(CURLUE_OUT_OF_MEMORY) }
        let code = curl_url_set(handle, CURLUPART_URL, text, 0)
        guard code == CURLUE_OK else {
            curl_url_cleanup(handle)
            throw CurlURLError(code)
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
    func text(_ part: Part) -> String? {
        let (code, flags) = part.code
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, code, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// Whether the URL has the part, readable or not.
    func has(_ part: Part) -> Bool {
        var text: UnsafeMutablePointer<CChar>?
        defer { curl_free(text) }
        return curl_url_get(handle, part.code.0, &text, 0) == CURLUE_OK
    }
}

/// A result code of libcurl's URL interface, with its text.
struct CurlURLError: Error, CustomStringConvertible {
    private let code: CURLUcode

    init(_ code: CURLUcode) {
        self.code = code
    }

    var description: String { String(cString: curl_url_strerror(code)) }
}
