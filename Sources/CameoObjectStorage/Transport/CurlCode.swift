internal import CCurl

/// A result code of libcurl's easy interface, with its text.
struct CurlCode: Error, Hashable, Sendable, CustomStringConvertible {
    let code: CURLcode

    init(_ code: CURLcode) {
        self.code = code
    }

    var description: String { String(cString: curl_easy_strerror(code)) }

    /// Whether the same request may succeed a moment later: the network or the server failed, not the configuration.
    var isPassing: Bool {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
            CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
            true
        default: false
        }
    }
}
