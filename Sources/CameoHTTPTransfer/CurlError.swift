internal import CCurl

/// An error of libcurl's easy interface, with its text.
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What callers tell apart.
    package enum Kind: Sendable {
        /// Connecting or the whole took too long, or the transfer was too slow.
        case timedOut
        /// The announced length exceeds the limit.
        case tooLarge
        /// None of the addresses took a connection.
        case notConnected
        /// The network or the server failed otherwise; `detour`: a proxy, HTTP/3, or the sockets of this machine.
        case network, detour
        /// The body ended before its announced length.
        case brokenOff
        /// A part of the request would have to be sent again, and cannot be.
        case notSentAgain
        case untrusted, wronglyEncoded, malformedURL
        /// The scheme is not allowed or, of an allowed one, the response is one of HTTP/0.9.
        case otherProtocol
        /// Also of a head that exceeds libcurl's buffers.
        case outOfMemory
        /// The delegate stopped the transfer by ``Reception/stop``.
        case stopped
        /// libcurl did not start, or the delegate did not let the transfer go on.
        case machine
        /// Of other protocols, of unused options, or newer than this list.
        case other
    }

    package static let outOfMemory = CurlError(CURLE_OUT_OF_MEMORY)

    private let code: CURLcode

    init(_ code: CURLcode) { self.code = code }

    package var description: String { String(cString: curl_easy_strerror(code)) }

    package var kind: Kind {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_FILESIZE_EXCEEDED: .tooLarge
        case CURLE_COULDNT_CONNECT: .notConnected
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
            CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .network
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR, CURLE_AGAIN,
            CURLE_NO_CONNECTION_AVAILABLE, CURLE_UNRECOVERABLE_POLL:
            .detour
        case CURLE_PARTIAL_FILE: .brokenOff
        case CURLE_SEND_FAIL_REWIND: .notSentAgain
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
            .untrusted
        case CURLE_BAD_CONTENT_ENCODING: .wronglyEncoded
        case CURLE_UNSUPPORTED_PROTOCOL: .otherProtocol
        case CURLE_URL_MALFORMAT: .malformedURL
        case CURLE_OUT_OF_MEMORY: .outOfMemory
        case CURLE_WRITE_ERROR: .stopped
        case CURLE_FAILED_INIT, CURLE_ABORTED_BY_CALLBACK: .machine
        default: .other
        }
    }
}
